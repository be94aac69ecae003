/** The sandbox of the contract: which amounts, words and tokens decide what happens. */
import { table, words } from './table.ts'

/** Seconds from the hand-over to the outcome where no trigger says otherwise. */
export const SANDBOX_SECONDS = { instant: 2, others: 10, exchange: 5 }

/**
 * Payments, by the exact amount in minor units of any currency, or by `SBX:<token>` in the reference or the recipient's
 * name. `seconds` count from the hand-over, from the hold, or from the settlement that a return follows; empty where the
 * default timing applies. `failure` is the failure code of the payment.
 */
export const SANDBOX_PAYMENTS = table(
  ['amount', 'token', 'outcome', 'code', 'failure', 'seconds'],
  `
  1301 | AC01 | failed | AC01 | invalid_account_details
  1302 | AC04 | failed | AC04 | account_closed
  1303 | AC06 | failed | AC06 | account_blocked
  1304 | AM04 | failed | AM04 | insufficient_funds
  1305 | BE01 | failed | BE01 | name_mismatch
  1306 | AG01 | failed | AG01 | account_not_eligible
  1307 | RC01 | failed | RC01 | invalid_account_details
  1308 | RR04 | failed | RR04 | declined
  1309 | MS03 | failed | MS03 | refused_by_recipient_bank
  1310 | AM05 | failed | AM05 | duplicate
  1311 | AM02 | failed | AM02 | amount_limit_exceeded
  1312 | TM01 | failed | TM01 | cutoff_missed
  1401 | RET-AC04 | returned in full | AC04 | | 10
  1402 | RET-MS03 | returned in full | MS03 | | 10
  1403 | RET-FEE | returned less a fee | AC04 | | 10
  1404 | RET-EARLY | returned before confirmation | AC04
  1501 | TIMEOUT-OK | exception, then completed | | | 60
  1502 | TIMEOUT-FAIL | exception, then failed | | technical_error | 60
  1503 | TIMEOUT | exception
  1504 | PROVIDER-502 | refused at submission | | technical_error
  1601 | HOLD-RELEASE | on hold, then released | | | 30
  1602 | HOLD | on hold
  1603 | HOLD-BLOCK | on hold, then blocked | | | 30
  1701 | STUCK | stays submitted
  1702 | SLOW | completed | | | 60
  1703 | QUEUE | queued, then completed | | | 60
`,
)

/** A return less a fee keeps this many minor units, or half of an amount that is no larger. */
export const SANDBOX_RETURN_FEE = 1000n

/** The answer to a recall by the amount of the payment, after 10 seconds; other amounts: accepted. */
export const SANDBOX_RECALLS = table(
  ['amount', 'outcome', 'code'],
  `
  1801 | accepted
  1802 | rejected | CUST
`,
)

/** Transfers; other amounts are completed at once. */
export const SANDBOX_TRANSFERS = table(
  ['amount', 'outcome', 'seconds'],
  `
  1301 | failed
  1501 | exception, then completed | 60
`,
)

/**
 * Recipients: what the payee's bank answers about a name, or about an account that ends so, in the codes of
 * Confirmation of Payee (`cop`) and Verification of Payee (`vop`). `name` is the text that the name contains.
 */
export const SANDBOX_PAYEES = table(
  ['name', 'accountEnds', 'outcome', 'cop', 'vop'],
  `
  | | match | | MTCH
  SBX:MBAM | | close_match | MBAM | MBAM
  Closematch | | close_match | MBAM | CMTC
  | 9892 | close_match | MBAM | CMTC
  SBX:BANM | | close_match | BANM | BANM
  SBX:PANM | | close_match | PANM | PANM
  SBX:BAMM | | close_match | BAMM | BAMM
  SBX:PAMM | | close_match | PAMM | PAMM
  SBX:ANNM | | no_match | ANNM | ANNM
  Nomatch | | no_match | ANNM | NMTC
  | 9891 | no_match | ANNM | NMTC
  SBX:AC01 | | no_match | AC01 | AC01
  | 9897 | no_match | AC01 | AC01
  SBX:ACNS | | unavailable | ACNS | ACNS
  SBX:OPTO | | unavailable | OPTO | OPTO
  SBX:CASS | | unavailable | CASS | CASS
  SBX:SCNS | | unavailable | SCNS | SCNS
  SBX:IVCR | | unavailable | IVCR | IVCR
  SBX:NOAP | | unavailable | NOAP | NOAP
  Unverifiable | | unavailable | ACNS | NOAP
`,
)

/** The name that a close match shows, where the scheme lets it be shown, and with which codes. */
export const SANDBOX_MATCHED_NAME = 'Sandbox Payee Ltd'
export const CODES_THAT_TELL_THE_NAME = words('MBAM BAMM PAMM CMTC')

/** The decision of the sandbox's approver, by a token in the text that it reads. */
export const SANDBOX_APPROVALS = table(
  ['text', 'decision'],
  `
  Invoice SBX:APPROVE | approved
  sbx/approve | approved
  SBX:REJECT | rejected
  SBX:APPROVE SBX:REJECT | approved
  Invoice 42 | none
`,
)

/** Exchanges by the amount sold, minor units; other amounts are completed after 5 seconds. */
export const SANDBOX_EXCHANGES = table(
  ['amount', 'outcome', 'seconds'],
  `
  1701 | stays processing
  1309 | failed | 5
  1501 | exception, then completed | 60
`,
)

/** A quote that sells this amount has expired when it arrives. */
export const SANDBOX_EXPIRED_QUOTE = 1801n
/** Forwards by the amount sold: a deposit of 10 instead of 5 per cent, and a margin call 30 seconds after activation. */
export const SANDBOX_FORWARDS = { largeDeposit: 1601n, largeDepositBps: 1000, marginCall: 1602n, marginCallSeconds: 30 }

/** The base rates, units for one euro. */
export const SANDBOX_RATES = table(
  ['currency', 'rate'],
  `
  USD | 1.0800
  GBP | 0.8600
  CHF | 0.9500
  PLN | 4.3000
  SEK | 11.3000
  NOK | 11.6000
  DKK | 7.4600
  CZK | 25.2000
  HUF | 395.0000
  RON | 4.9800
  AUD | 1.6500
  NZD | 1.8000
  CAD | 1.4700
  SGD | 1.4500
  HKD | 8.4000
  JPY | 160.0000
  INR | 90.0000
  MXN | 19.5000
  ZAR | 20.0000
  AED | 3.9600
`,
)
/** What a quote is worse than the base rate for the customer, and what a forward adds for each day. */
export const SANDBOX_SPREAD_BPS = 50
export const SANDBOX_FORWARD_BPS_A_DAY = 1

/** Incoming payments by the name of the payer. */
export const SANDBOX_INCOMING = table(
  ['payerName', 'outcome'],
  `
  Acme BV | credited
  SBX:HOLD | under review
  SBX:UNALLOCATED | suspense
`,
)

/** Uploaded files by their name, after 2 seconds. */
export const SANDBOX_FILES = table(
  ['fileName', 'verdict'],
  `
  invoice.pdf | clean
  invoice SBX:INFECTED.pdf | infected
`,
)
export const SANDBOX_SCAN_SECONDS = 2

/** What else the catalogue tells of: the words that decide things which are no amounts. */
export const SANDBOX_OTHERS = table(
  ['topic', 'word'],
  `
  recipients | SBX:APPROVE
  recipients | SBX:REJECT
  incoming payments | SBX:HOLD
  incoming payments | SBX:UNALLOCATED
  incoming payments | funds request
  bulk payments | SBX:STALL
  bulk payments | SBX:APPROVE
  documents | SBX:INFECTED
  account details | active after 5 s
  jobs | SBX:FAIL
  webhooks | /sbx-fail
  onboarding | SBX:GREEN
  onboarding | SBX:RED
  onboarding | SBX:RETRY
  onboarding | SBX:HIT
  onboarding | SBX:DOC-EXPIRED
  onboarding | SBX:UBO-MISSING
  onboarding | SBX:SLOW
`,
)

/** What the sandbox has rules for, by the topics of its catalogue. */
export const SANDBOX_TOPICS = table(
  ['topic'],
  `
  payments
  transfers
  recipients
  exchanges
  incoming payments
  documents
  bulk payments
  account details
  jobs
  webhooks
  direct debits
  cards
  onboarding
`,
).map(({ topic }) => topic)
