/**
 * The reason codes of R-transactions, and of reports about mandates, as data. One code may mean different things in
 * different reports of a scheme (1 of ARUDD, of ADDACS and of an indemnity claim), so a row names its reports.
 */

/** The ways in which a collection does not end with its money: all but `reversal` come from the payer's side. */
export const R_TRANSACTION_TYPES = [
  'reject',
  'refusal',
  'return',
  'refund_authorised',
  'refund_unauthorised',
  'reversal',
  'indemnity_claim',
] as const
export type RTransactionType = (typeof R_TRANSACTION_TYPES)[number]

/** R-transactions before the settlement: no money has moved. */
export const EARLY_R_TYPES: readonly RTransactionType[] = ['reject', 'refusal']

/** A reason of an R-transaction. */
export interface CollectionReason {
  readonly code: string
  readonly text: string
  /** The R-transactions that name the reason, the most likely first. */
  readonly kinds: readonly RTransactionType[]
  /** Whether the reason ends the mandate too. */
  readonly endsMandate: boolean
}

/**
 * The report that names a reason about a mandate: the answer to its lodging (AUDDIS, the debtor's bank), or a later
 * advice of the payer's bank (ADDACS, notifications of change).
 */
export type MandateReport = 'lodging' | 'advice'

/** The consequence for the mandate; `information` changes nothing. */
export type MandateConsequence = 'failed' | 'cancelled' | 'amended' | 'reinstated' | 'information'

/** A reason of a report about a mandate. */
export interface MandateReason {
  readonly code: string
  readonly report: MandateReport
  readonly consequence: MandateConsequence
  readonly text: string
}

type Row = readonly [code: string, text: string]

const rows = (kinds: readonly RTransactionType[], list: readonly Row[], endsMandate = false): CollectionReason[] =>
  list.map(([code, text]) => ({ code, text, kinds, endsMandate }))

const BANK = ['reject', 'return'] as const satisfies readonly RTransactionType[]
const PAYER = ['refusal', 'return'] as const satisfies readonly RTransactionType[]

/** The creditor sends money back by its own reversal, in each scheme that has one. */
const REVERSALS = rows(
  ['reversal'],
  [
    ['DUPL', 'Duplicate collection'],
    ['AM05', 'Duplicate collection'],
    ['MS02', 'No reason given by the creditor'],
  ],
)

const SEPA_REASONS: readonly CollectionReason[] = [
  ...rows(BANK, [
    ['AC01', 'Account identifier incorrect'],
    ['AC06', 'Account blocked'],
    ['AC13', 'The account is of a consumer'],
    ['AG01', 'Direct debits are not allowed on this account'],
    ['AG02', 'Operation code invalid'],
    ['AM04', 'Insufficient funds'],
    ['AM05', 'Duplicate collection'],
    ['BE05', 'Creditor identifier incorrect'],
    ['CNOR', 'The creditor bank is not registered'],
    ['DNOR', 'The debtor bank is not registered'],
    ['FF01', 'File format invalid'],
    ['MD02', 'Mandate data missing or incorrect'],
    ['MS03', 'Reason not specified by the bank'],
    ['RC01', 'Bank identifier incorrect'],
    ['RR01', 'Account or identification of the debtor missing'],
    ['RR02', 'Name or address of the debtor missing'],
    ['RR03', 'Name or address of the creditor missing'],
    ['RR04', 'Regulatory reason'],
    ['SL01', 'Specific service of the debtor bank'],
  ]),
  ...rows(BANK, [['AC04', 'Account closed']], true),
  ...rows(BANK, [['MD07', 'Debtor deceased']], true),
  ...rows(PAYER, [['MS02', 'Refused by the debtor']]),
  ...REVERSALS,
]

/** SEPA Core: the debtor has refunds, of collections that it authorised and of others. */
const SEPA_CORE_REASONS: readonly CollectionReason[] = [
  ...SEPA_REASONS,
  ...rows(['refund_authorised'], [['MD06', 'Refund requested by the debtor']]),
  ...rows(['refund_unauthorised', 'reject'], [['MD01', 'No valid mandate']], true),
]

/** SEPA B2B has no refunds; without a mandate a collection is rejected or returned. */
const SEPA_B2B_REASONS: readonly CollectionReason[] = [
  ...SEPA_REASONS,
  ...rows(BANK, [['MD01', 'No valid mandate']], true),
]

const SEPA_MANDATE_REASONS: readonly MandateReason[] = [
  ...(
    [
      ['AC01', 'Account identifier incorrect'],
      ['AC04', 'Account closed'],
      ['AC06', 'Account blocked'],
      ['AG01', 'Direct debits are not allowed on this account'],
      ['MD01', 'No mandate'],
      ['MD07', 'Debtor deceased'],
      ['MS02', 'Refused by the debtor'],
      ['MS03', 'Reason not specified by the bank'],
      ['SL01', 'Specific service of the debtor bank'],
    ] as const
  ).map(([code, text]) => ({ code, report: 'lodging' as const, consequence: 'failed' as const, text })),
  { code: 'MD16', report: 'advice', consequence: 'cancelled', text: 'Cancelled by the debtor' },
  { code: 'MD17', report: 'advice', consequence: 'cancelled', text: 'Cancelled by the debtor bank' },
  { code: 'MD20', report: 'advice', consequence: 'amended', text: 'Account of the debtor changed' },
]

const BACS_REASONS: readonly CollectionReason[] = [
  ...rows(
    ['return', 'reject'],
    [
      ['0', 'Refer to payer'],
      ['4', 'Advance notice disputed'],
      ['7', 'Amount differs'],
      ['8', 'Amount not yet due'],
      ['9', 'Presentation overdue'],
      ['A', 'Service user differs'],
    ],
  ),
  ...rows(
    ['return', 'reject'],
    [
      ['1', 'Instruction cancelled'],
      ['2', 'Payer deceased'],
      ['3', 'Account transferred'],
      ['5', 'No account'],
      ['6', 'No instruction'],
      ['B', 'Account closed'],
    ],
    true,
  ),
  ...rows(
    ['indemnity_claim'],
    [
      ['1', 'Amount or date differ from the advance notice'],
      ['2', 'No advance notice received'],
      ['3', 'Instruction cancelled by the paying bank'],
      ['4', 'Payer has cancelled the instruction with the service user'],
      ['5', 'No instruction held'],
      ['6', 'Signature is fraudulent or not in accordance with the account'],
      ['7', 'Claim raised at the request of the service user'],
      ['8', 'Service user name disputed'],
    ],
  ),
  ...REVERSALS,
]

const reasons = (
  report: MandateReport,
  consequence: MandateConsequence,
  list: readonly Row[],
): readonly MandateReason[] => list.map(([code, text]) => ({ code, report, consequence, text }))

const BACS_MANDATE_REASONS: readonly MandateReason[] = [
  ...reasons('lodging', 'failed', [
    ['1', 'Instruction cancelled by payer'],
    ['2', 'Payer deceased'],
    ['3', 'Account transferred'],
    ['5', 'No account'],
    ['6', 'No instruction'],
    ['B', 'Account closed'],
    ['F', 'Invalid account type'],
    ['G', 'Bank will not accept direct debits on the account'],
    ['H', 'Instruction has expired'],
    ['I', 'Payer reference is not unique'],
    ['K', 'Instruction cancelled by the paying bank'],
    ['L', 'Account details of the payer incorrect'],
    ['M', 'Transaction code and user status incompatible'],
    ['N', 'Transaction not allowed at the branch of the payer'],
    ['O', 'Invalid reference'],
    ['P', 'Name of the payer missing'],
    ['Q', 'Name of the service user missing'],
  ]),
  ...reasons('lodging', 'amended', [['C', 'Account transferred to another branch']]),
  ...reasons('advice', 'cancelled', [
    ['0', 'Instruction cancelled, refer to payer'],
    ['1', 'Instruction cancelled by payer'],
    ['2', 'Payer deceased'],
    ['B', 'Account closed'],
  ]),
  ...reasons('advice', 'amended', [
    ['3', 'Account transferred to another bank'],
    ['C', 'Account transferred to another branch'],
    ['E', 'Instruction amended'],
  ]),
  ...reasons('advice', 'information', [['D', 'Advance notice disputed']]),
  ...reasons('advice', 'reinstated', [['R', 'Instruction reinstated']]),
]

const ACH_REASONS: readonly CollectionReason[] = [
  ...rows(
    ['return', 'reject'],
    [
      ['R01', 'Insufficient funds'],
      ['R04', 'Invalid account number'],
      ['R06', 'Returned at the request of the originating bank'],
      ['R08', 'Payment stopped'],
      ['R09', 'Uncollected funds'],
      ['R12', 'Account sold to another bank'],
      ['R13', 'Invalid routing number'],
      ['R16', 'Account frozen'],
      ['R17', 'Entry with errors in its fields'],
      ['R20', 'Account does not allow transactions'],
      ['R24', 'Duplicate entry'],
      ['R31', 'Return agreed with the originating bank'],
    ],
  ),
  ...rows(
    ['return', 'reject'],
    [
      ['R02', 'Account closed'],
      ['R03', 'No account'],
      ['R14', 'Representative payee deceased'],
      ['R15', 'Account holder deceased'],
    ],
    true,
  ),
  ...rows(['refund_unauthorised', 'return'], [['R11', 'Entry not in accordance with its authorisation']]),
  ...rows(
    ['refund_unauthorised', 'return'],
    [
      ['R05', 'Consumer account debited with a corporate entry'],
      ['R07', 'Authorisation revoked'],
      ['R10', 'Not authorised'],
      ['R29', 'Not authorised by the corporate customer'],
    ],
    true,
  ),
  ...REVERSALS,
]

const ACH_MANDATE_REASONS: readonly MandateReason[] = [
  ...reasons('advice', 'amended', [
    ['C01', 'Account number changed'],
    ['C02', 'Routing number changed'],
    ['C03', 'Routing and account number changed'],
    ['C04', 'Name changed'],
    ['C05', 'Account type changed'],
    ['C06', 'Account number and type changed'],
    ['C07', 'Routing number, account number and type changed'],
    ['C08', 'Foreign bank identification changed'],
    ['C09', 'Identification number changed'],
    ['C13', 'Addenda format incorrect'],
  ]),
]

const BECS_REASONS: readonly CollectionReason[] = [
  ...rows(
    ['return', 'reject'],
    [
      ['1', 'Invalid BSB number'],
      ['2', 'Payment stopped'],
      ['6', 'Refer to customer'],
      ['7', 'Deleted'],
      ['8', 'Invalid user identification number'],
      ['9', 'Technically invalid'],
    ],
  ),
  ...rows(
    ['return', 'reject'],
    [
      ['3', 'Account closed'],
      ['4', 'Customer deceased'],
      ['5', 'No account, or account number incorrect'],
    ],
    true,
  ),
  ...rows(['refund_unauthorised'], [['CLM', 'Claim of the customer: not authorised']]),
  ...REVERSALS,
]

const PAD_REASONS: readonly CollectionReason[] = [
  ...rows(
    ['return', 'reject'],
    [
      ['900', 'Edit reject'],
      ['901', 'Insufficient funds'],
      ['902', 'Account not found'],
      ['903', 'Payment stopped or recalled'],
      ['904', 'Post-dated or stale-dated'],
      ['907', 'No debit allowed'],
      ['908', 'Funds not cleared'],
      ['909', 'Currency and account do not match'],
      ['911', 'Account frozen'],
      ['912', 'Account number invalid or incorrect'],
      ['914', 'Name of the payor incorrect'],
      ['990', 'Institution in default'],
    ],
  ),
  ...rows(
    ['return', 'reject'],
    [
      ['905', 'Account closed'],
      ['910', 'Payor deceased'],
    ],
    true,
  ),
  ...rows(
    ['refund_unauthorised', 'return'],
    [
      ['916', 'Not in accordance with the agreement, personal'],
      ['918', 'No notice before the debit, personal'],
      ['919', 'Not in accordance with the agreement, business'],
      ['921', 'No notice before the debit, business'],
    ],
  ),
  ...rows(
    ['refund_unauthorised', 'return'],
    [
      ['915', 'No agreement existed'],
      ['917', 'Agreement revoked, personal'],
      ['920', 'Agreement revoked, business'],
    ],
    true,
  ),
  ...REVERSALS,
]

/** The reasons of R-transactions, by scheme of codes. */
export const COLLECTION_REASONS = {
  sepa_core: SEPA_CORE_REASONS,
  sepa_b2b: SEPA_B2B_REASONS,
  bacs: BACS_REASONS,
  ach: ACH_REASONS,
  becs: BECS_REASONS,
  pad: PAD_REASONS,
} as const

/** The reasons of reports about mandates, by scheme of codes. */
export const MANDATE_REASONS = {
  sepa: SEPA_MANDATE_REASONS,
  bacs: BACS_MANDATE_REASONS,
  ach: ACH_MANDATE_REASONS,
  none: [] as readonly MandateReason[],
} as const
