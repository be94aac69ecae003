/** The part of the schema of pain.002.001.03 that reports on bulk payments use, and all rules around that part. */
import { choice, MANY, pattern, schemaErrors, sequence, type Rule } from './xml-rules.ts'

const RULES: Readonly<Record<string, Rule>> = {
  Document: sequence(['CstmrPmtStsRpt', 1, 1, 'CstmrPmtStsRpt']),
  CstmrPmtStsRpt: sequence(
    ['GrpHdr', 1, 1, 'GrpHdr'],
    ['OrgnlGrpInfAndSts', 1, 1, 'OriginalGroup'],
    ['OrgnlPmtInfAndSts', 0, MANY, 'OriginalPayment'],
  ),
  GrpHdr: sequence(['MsgId', 1, 1, 'Max35'], ['CreDtTm', 1, 1, 'DateTime']),
  OriginalGroup: sequence(
    ['OrgnlMsgId', 1, 1, 'Max35'],
    ['OrgnlMsgNmId', 1, 1, 'Max35'],
    ['OrgnlCreDtTm', 0, 1, 'DateTime'],
    ['OrgnlNbOfTxs', 0, 1, 'Max15Numeric'],
    ['OrgnlCtrlSum', 0, 1, 'Decimal'],
    ['GrpSts', 0, 1, 'GroupStatus'],
    ['StsRsnInf', 0, MANY, 'Reason'],
    ['NbOfTxsPerSts', 0, MANY, 'PerStatus'],
  ),
  OriginalPayment: sequence(
    ['OrgnlPmtInfId', 1, 1, 'Max35'],
    ['OrgnlNbOfTxs', 0, 1, 'Max15Numeric'],
    ['OrgnlCtrlSum', 0, 1, 'Decimal'],
    ['PmtInfSts', 0, 1, 'GroupStatus'],
    ['StsRsnInf', 0, MANY, 'Reason'],
    ['NbOfTxsPerSts', 0, MANY, 'PerStatus'],
    ['TxInfAndSts', 0, MANY, 'Transaction'],
  ),
  PerStatus: sequence(
    ['DtldNbOfTxs', 1, 1, 'Max15Numeric'],
    ['DtldSts', 1, 1, 'Status'],
    ['DtldCtrlSum', 0, 1, 'Decimal'],
  ),
  Transaction: sequence(
    ['StsId', 0, 1, 'Max35'],
    ['OrgnlInstrId', 0, 1, 'Max35'],
    ['OrgnlEndToEndId', 0, 1, 'Max35'],
    ['TxSts', 0, 1, 'Status'],
    ['StsRsnInf', 0, MANY, 'Reason'],
    ['AccptncDtTm', 0, 1, 'DateTime'],
    ['AcctSvcrRef', 0, 1, 'Max35'],
    ['ClrSysRef', 0, 1, 'Max35'],
    ['OrgnlTxRef', 0, 1, 'OriginalTransaction'],
  ),
  Reason: sequence(['Rsn', 0, 1, 'ReasonCode'], ['AddtlInf', 0, MANY, 'Max105']),
  ReasonCode: choice(['Cd', 'ReasonWord'], ['Prtry', 'Max35']),
  OriginalTransaction: sequence(['Amt', 0, 1, 'AmountType'], ['ReqdExctnDt', 0, 1, 'Date']),
  AmountType: choice(['InstdAmt', 'Amount']),
  GroupStatus: pattern(/^(ACTC|ACCP|PART|RJCT)$/),
  Status: pattern(/^(ACTC|PDNG|ACSP|ACSC|RJCT|CANC)$/),
  ReasonWord: pattern(/^[A-Z0-9]{4}$/),
}

/** Lists the violations of the schema in a report; empty when it is valid. @throws Error when it is not XML */
export const pain002Errors = (xml: string): string[] =>
  schemaErrors(xml, 'urn:iso:std:iso:20022:tech:xsd:pain.002.001.03', RULES)
