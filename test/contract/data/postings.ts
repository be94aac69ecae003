/** The ledger of the contract: its chart of accounts and its posting rules. */
import { table, words } from './table.ts'

/** The accounts: code, key, class, and the owner of each. */
export const CONTRACT_CHART = table(
  ['code', 'key', 'class', 'per'],
  `
  1000 | nostro | asset | connection
  1050 | nostro_suspense | asset | connection
  1200 | partner_deposit | asset | connection
  2000 | cust | liability | balance
  2100 | out_transit | liability | connection
  2200 | fx_clearing | liability | connection
  2300 | fx_deposit | liability | customer
  2400 | unallocated | liability | connection
  2410 | review_held | liability | customer
  2500 | card_payable | liability | connection
  2600 | dd_clearing | liability | connection
  2700 | fee_tax | liability | operator
  3000 | house | equity | operator
  4000 | inc_fee | income | operator
  4100 | inc_fx | income | operator
  5000 | exp_partner | expense | operator
  5100 | exp_fx | expense | operator
  5200 | exp_loss | expense | operator
  5300 | exp_interest | expense | operator
`,
)

/**
 * The rules, and below them the cases of rules: the account with its currency symbol, and the amount in letters. A case
 * replaces the lines in its currency.
 */
const POSTINGS = table(
  ['rule', 'variant', 'debit', 'credit'],
  `
  L01 | | nostro(c) A | cust(c) A
  L02 | | cust(c) F | inc_fee(c) F
  L03 | | nostro(c) A | unallocated(c) A
  L04 | | unallocated(c) A | cust(c) A
  L05 | | nostro(c) A | review_held(c) A
  L06 | | review_held(c) A | cust(c) A
  L07 | | review_held(c) A | out_transit(c) A
  L08 | | unallocated(c) A | out_transit(c) A
  L09 |
  L10 | | cust(c) A+F | out_transit(c) A; inc_fee(c) F-T; fee_tax(c) T
  L11 | | out_transit(c) A | nostro(c) A
  L12 | | out_transit(c) A; inc_fee(c) F-T; fee_tax(c) T | cust(c) A+F
  L13 | | nostro(c) R | cust(c) R
  L14 | | inc_fee(c) F-T; fee_tax(c) T | cust(c) F
  L15 | | cust(c) P | inc_fee(c) P
  L16 | | exp_partner(c) P | nostro(c) P
  L17 | | exp_partner(c) P; cust(c) P | nostro(c) P; inc_fee(c) P
  L20 | | cust(c) A | cust(c) A
  L21 | | nostro(c) A | nostro(c) A
  L30 | | cust(s) S+F | fx_clearing(s) S; inc_fee(s) F
  L31 | | fx_clearing(s) Sp | nostro(s) Sp
  L32 | | nostro(b) Bp | fx_clearing(b) Bp
  L33 | | fx_clearing(b) B | cust(b) B
  L34 | | fx_clearing(s) S-Sp; fx_clearing(b) Bp-B | inc_fx(s) S-Sp; inc_fx(b) Bp-B
  L35 | | fx_clearing(s) S; inc_fee(s) F | cust(s) S+F
  L36 | | fx_clearing(s) S; house(b) B | house(s) S; fx_clearing(b) B
  L40 | | cust(c) D | fx_deposit(c) D
  L41 | | partner_deposit(c) D | nostro(c) D
  L42 | | fx_deposit(c) D | cust(c) D
  L43 | | fx_deposit(s) D; cust(s) S-D | fx_clearing(s) S
  L44 | | fx_deposit(c) D; cust(c) P-D | nostro(c) P
  L45 | | nostro(c) P; fx_deposit(c) D | cust(c) P+D
  L50 | | nostro(c) C | dd_clearing(c) C
  L51 | | dd_clearing(c) C | cust(c) C
  L52 | | cust(c) C; dd_clearing(c) C | dd_clearing(c) C; nostro(c) C
  L53 | | cust(c) P | inc_fee(c) P
  L54 | | cust(c) C | out_transit(c) C
  L60 | | cust(c) A | nostro(c) A
  L61 | | nostro(c) A | cust(c) A
  L70 |
  L71 | | cust(c) S+F | card_payable(c) S; inc_fee(c) F-T; fee_tax(c) T
  L72 |
  L73 | | card_payable(c) R | cust(c) R
  L74 | | card_payable(c) A | nostro(c) A
  L80 | | cust(c) A | out_transit(c) A
  L81 | | cust(s) S | fx_clearing(s) S
  L90 | | exp_loss(c) A | cust(c) A
  L91 | | exp_loss(c) A | cust(c) A
  L92 | | exp_interest(c) A | cust(c) A
  L93 | | nostro_suspense(c) A | nostro(c) A
  L94 | | nostro(c) A | house(c) A
  L95 | | inc_fee(c) A; inc_fx(c) B | exp_partner(c) P; house(c) A+B-P
  L96 | | nostro(c) A | nostro(c) A
  L97 | | nostro(c) A | unallocated(c) A

  -- Cases
  L20 | payment | cust(c) A+F | cust(c) A; inc_fee(c) F-T; fee_tax(c) T
  L21 | in_transit | out_transit(c) A | out_transit(c) A
  L31 | from_deposit | fx_clearing(s) Sp | partner_deposit(s) Sp
  L34 | loss_sold | exp_fx(s) Sp-S | fx_clearing(s) Sp-S
  L34 | loss_bought | exp_fx(b) B-Bp | fx_clearing(b) B-Bp
  L44 | within_deposit | fx_deposit(c) P | nostro(c) P
  L71 | withdrawal | cust(c) S+F | card_payable(c) S; inc_fee(c) F-T; fee_tax(c) T
  L71 | converted | cust(c) S+F | card_payable(c) S; inc_fee(c) F-T-M; inc_fx(c) M; fee_tax(c) T
  L71 | converted_withdrawal | cust(c) S+F | card_payable(c) S; inc_fee(c) F-T-M; inc_fx(c) M; fee_tax(c) T
  L74 | scheme_pays | nostro(c) A | card_payable(c) A
  L90 | against_customer | cust(c) A | exp_loss(c) A
  L93 | explained_as_charge | exp_partner(c) A | nostro_suspense(c) A
  L93 | explained_as_payment | out_transit(c) A | nostro_suspense(c) A
  L93 | explained_as_direct_debit | cust(c) A | nostro_suspense(c) A
  L95 | loss | inc_fee(c) A; inc_fx(c) B; house(c) P-A-B | exp_partner(c) P
  L95 | exp_fx | house(c) P | exp_fx(c) P
  L95 | exp_loss | house(c) P | exp_loss(c) P
  L95 | exp_interest | house(c) P | exp_interest(c) P
`,
)

/** One line of a rule, written as in the table. */
export interface ContractLine {
  readonly account: string
  readonly currency: string
  /** The letters with their signs, sorted: `+F`, `-T`. */
  readonly amount: readonly string[]
}

export interface ContractPosting {
  readonly rule: string
  /** Empty for the rule itself. */
  readonly variant: string
  readonly debit: readonly ContractLine[]
  readonly credit: readonly ContractLine[]
}

function linesOf(cell: string): readonly ContractLine[] {
  return cell
    .split(';')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, account = '', currency = '', amount = ''] = /^\s*(\w+)\((\w)\) (\S+)\s*$/.exec(line) ?? []
      const signed = /^[+-]/.test(amount) ? amount : `+${amount}`
      return { account, currency, amount: (signed.match(/[+-][A-Z]p?/g) ?? []).sort() }
    })
}

export const CONTRACT_POSTINGS: readonly ContractPosting[] = POSTINGS.map(({ rule, variant, debit, credit }) => ({
  rule,
  variant,
  debit: linesOf(debit),
  credit: linesOf(credit),
}))

/** The rules that may take a balance of a customer below zero; L90 only where it goes against the customer. */
export const CONTRACT_OVERDRAWING: readonly string[] = words('L15 L17 L44 L52 L53 L71')
