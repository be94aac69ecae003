/** The part of the schema of camt.053.001.08 that statements use. */
import { choice, MANY, pattern, schemaErrors, sequence, type Rule } from './xml-rules.ts'

const RULES: Readonly<Record<string, Rule>> = {
  Document: sequence(['BkToCstmrStmt', 1, 1, 'BkToCstmrStmt']),
  BkToCstmrStmt: sequence(['GrpHdr', 1, 1, 'GrpHdr'], ['Stmt', 1, MANY, 'Stmt']),
  GrpHdr: sequence(['MsgId', 1, 1, 'Max35'], ['CreDtTm', 1, 1, 'DateTime'], ['MsgPgntn', 0, 1, 'Pagination']),
  Pagination: sequence(['PgNb', 1, 1, 'Max5Numeric'], ['LastPgInd', 1, 1, 'Boolean']),
  Stmt: sequence(
    ['Id', 1, 1, 'Max35'], ['ElctrncSeqNb', 0, 1, 'Number'], ['LglSeqNb', 0, 1, 'Number'], ['CreDtTm', 0, 1, 'DateTime'], ['FrToDt', 0, 1, 'Period'], ['Acct', 1, 1, 'Account'],
    ['Bal', 1, MANY, 'Balance'], ['TxsSummry', 0, 1, 'Summary'], ['Ntry', 0, MANY, 'Entry'], ['AddtlStmtInf', 0, 1, 'Max500'],
  ),
  Period: sequence(['FrDtTm', 1, 1, 'DateTime'], ['ToDtTm', 1, 1, 'DateTime']),
  Account: sequence(['Id', 1, 1, 'AccountId'], ['Ccy', 0, 1, 'Currency'], ['Nm', 0, 1, 'Max70'], ['Ownr', 0, 1, 'Party'], ['Svcr', 0, 1, 'Agent']),
  AccountId: choice(['IBAN', 'IBAN'], ['Othr', 'OtherId']),
  OtherId: sequence(['Id', 1, 1, 'Max34']),
  Party: sequence(['Nm', 0, 1, 'Max140'], ['PstlAdr', 0, 1, 'Address']),
  Address: sequence(['AdrLine', 0, 7, 'Max70']),
  Agent: sequence(['FinInstnId', 1, 1, 'Institution']),
  Institution: sequence(['BICFI', 0, 1, 'BIC'], ['Nm', 0, 1, 'Max140']),
  Balance: sequence(['Tp', 1, 1, 'BalanceType'], ['Amt', 1, 1, 'Amount'], ['CdtDbtInd', 1, 1, 'Direction'], ['Dt', 1, 1, 'DateOrTime']),
  BalanceType: sequence(['CdOrPrtry', 1, 1, 'BalanceCode']),
  BalanceCode: choice(['Cd', 'BalanceWord']),
  DateOrTime: choice(['Dt', 'Date'], ['DtTm', 'DateTime']),
  Summary: sequence(['TtlNtries', 0, 1, 'Totals'], ['TtlCdtNtries', 0, 1, 'Sums'], ['TtlDbtNtries', 0, 1, 'Sums']),
  Totals: sequence(['NbOfNtries', 0, 1, 'Max15Numeric'], ['Sum', 0, 1, 'Decimal'], ['TtlNetNtry', 0, 1, 'Net']),
  Net: sequence(['Amt', 1, 1, 'Decimal'], ['CdtDbtInd', 1, 1, 'Direction']),
  Sums: sequence(['NbOfNtries', 0, 1, 'Max15Numeric'], ['Sum', 0, 1, 'Decimal']),
  Entry: sequence(
    ['NtryRef', 0, 1, 'Max35'], ['Amt', 1, 1, 'Amount'], ['CdtDbtInd', 1, 1, 'Direction'], ['RvslInd', 0, 1, 'Boolean'], ['Sts', 1, 1, 'EntryStatus'], ['BookgDt', 0, 1, 'DateOrTime'],
    ['ValDt', 0, 1, 'DateOrTime'], ['AcctSvcrRef', 0, 1, 'Max35'], ['BkTxCd', 1, 1, 'TransactionCode'], ['NtryDtls', 0, MANY, 'EntryDetails'], ['AddtlNtryInf', 0, 1, 'Max500'],
  ),
  EntryStatus: choice(['Cd', 'StatusWord']),
  TransactionCode: sequence(['Domn', 0, 1, 'Domain'], ['Prtry', 0, 1, 'Proprietary']),
  Domain: sequence(['Cd', 1, 1, 'Code4'], ['Fmly', 1, 1, 'Family']),
  Family: sequence(['Cd', 1, 1, 'Code4'], ['SubFmlyCd', 1, 1, 'Code4']),
  Proprietary: sequence(['Cd', 1, 1, 'Max35'], ['Issr', 0, 1, 'Max35']),
  EntryDetails: sequence(['TxDtls', 0, MANY, 'Transaction']),
  Transaction: sequence(['Refs', 0, 1, 'References'], ['Amt', 0, 1, 'Amount'], ['CdtDbtInd', 0, 1, 'Direction'], ['RltdPties', 0, 1, 'Parties'], ['RmtInf', 0, 1, 'Remittance']),
  References: sequence(['AcctSvcrRef', 0, 1, 'Max35'], ['EndToEndId', 0, 1, 'Max35']),
  Parties: sequence(['Dbtr', 0, 1, 'PartyChoice'], ['Cdtr', 0, 1, 'PartyChoice']),
  PartyChoice: choice(['Pty', 'Party'], ['Agt', 'Agent']),
  Remittance: sequence(['Ustrd', 0, MANY, 'Max140']),
  Direction: pattern(/^(CRDT|DBIT)$/), BalanceWord: pattern(/^(OPBD|CLBD|CLAV|FWAV|INFO|ITAV|ITBD|OPAV|PRCD|XPCD)$/), StatusWord: pattern(/^(BOOK|PDNG|INFO|FUTR)$/),
}

/** Lists the violations of the schema in a statement; empty when it is valid. @throws Error when it is not XML */
export const camt053Errors = (xml: string): string[] => schemaErrors(xml, 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08', RULES)
