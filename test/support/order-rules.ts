/**
 * The schemas of pain.001.001.09, pain.008.001.08 and pain.007.001.09, as far as files of orders may use them: every element of a level
 * in its order, with its number and the form of its text. An element whose type has no rule here is not written.
 */
import { members, oneOf, pattern, schemaErrors, type Rule } from './xml-rules.ts'

/** The types that both schemas have in common. */
const COMMON: Readonly<Record<string, Rule>> = {
  GrpHdr: members(
    'MsgId:Max35 CreDtTm:DateTime Authstn[0-2] NbOfTxs:Max15Numeric CtrlSum?:Decimal InitgPty:Party FwdgAgt?',
  ),
  Party: members('Nm?:Max140 PstlAdr?:Address Id?:PartyId CtryOfRes?:Country CtctDtls?'),
  Address: members(
    'AdrTp? Dept?:Max70 SubDept?:Max70 StrtNm?:Max70 BldgNb?:Max16 BldgNm?:Max35 Flr?:Max70 PstBx?:Max16 Room?:Max70 ' +
      'PstCd?:Max16 TwnNm?:Max35 TwnLctnNm?:Max35 DstrctNm?:Max35 CtrySubDvsn?:Max35 Ctry?:Country AdrLine[0-7]:Max70',
  ),
  PartyId: oneOf('OrgId:Organisation PrvtId:Person'),
  Organisation: members('AnyBIC?:BIC LEI? Othr*:OtherId'),
  Person: members('DtAndPlcOfBirth? Othr*:OtherId'),
  OtherId: members('Id:Max35 SchmeNm?:Scheme Issr?:Max35'),
  Scheme: oneOf('Cd:Max4 Prtry:Max35'),
  Account: members('Id:AccountId Tp?:Scheme Ccy?:Currency Nm?:Max70 Prxy?'),
  AccountId: oneOf('IBAN Othr:OtherAccount'),
  OtherAccount: members('Id:Max34 SchmeNm?:Scheme Issr?:Max35'),
  Agent: members('FinInstnId:Institution BrnchId?'),
  Institution: members('BICFI?:BIC ClrSysMmbId?:Member LEI? Nm?:Max140 PstlAdr?:Address Othr?:OtherId'),
  Member: members('ClrSysId?:ClearingSystem MmbId:Max35'),
  ClearingSystem: oneOf('Cd:Max5 Prtry:Max35'),
  PmtId: members('InstrId?:Max35 EndToEndId:Max35 UETR?:UUIDv4'),
  ServiceLevel: oneOf('Cd:Max4 Prtry:Max35'),
  LocalInstrument: oneOf('Cd:Max35 Prtry:Max35'),
  Bearer: pattern(/^(DEBT|CRED|SHAR|SLEV)$/),
  RmtInf: members('Ustrd*:Max140 Strd*:Structured'),
  Structured: members(
    'RfrdDocInf* RfrdDocAmt? CdtrRefInf?:CreditorReference Invcr? Invcee? TaxRmt? GrnshmtRmt? AddtlRmtInf[0-3]:Max140',
  ),
  CreditorReference: members('Tp?:ReferenceType Ref?:Max35'),
  ReferenceType: members('CdOrPrtry:ReferenceCode Issr?:Max35'),
  ReferenceCode: oneOf('Cd:ReferenceWord Prtry:Max35'),
  ReferenceWord: pattern(/^(RADM|RPIN|FXDR|DISP|PUOR|SCOR)$/),
}

const CREDIT_TRANSFERS: Readonly<Record<string, Rule>> = {
  ...COMMON,
  Document: members('CstmrCdtTrfInitn'),
  CstmrCdtTrfInitn: members('GrpHdr PmtInf+ SplmtryData*'),
  PmtInf: members(
    'PmtInfId:Max35 PmtMtd BtchBookg?:Boolean NbOfTxs?:Max15Numeric CtrlSum?:Decimal PmtTpInf? ReqdExctnDt PoolgAdjstmntDt?:Date ' +
      'Dbtr:Party DbtrAcct:Account DbtrAgt:Agent DbtrAgtAcct?:Account InstrForDbtrAgt?:Max140 UltmtDbtr?:Party ' +
      'ChrgBr?:Bearer ChrgsAcct?:Account ChrgsAcctAgt?:Agent CdtTrfTxInf+',
  ),
  PmtMtd: pattern(/^(CHK|TRF|TRA)$/),
  PmtTpInf: members('InstrPrty? SvcLvl*:ServiceLevel LclInstrm?:LocalInstrument CtgyPurp?:Scheme'),
  ReqdExctnDt: oneOf('Dt:Date DtTm:DateTime'),
  CdtTrfTxInf: members(
    'PmtId PmtTpInf? Amt:AmountType XchgRateInf? ChrgBr?:Bearer ChqInstr? UltmtDbtr?:Party IntrmyAgt1?:Agent ' +
      'IntrmyAgt1Acct?:Account IntrmyAgt2?:Agent IntrmyAgt2Acct?:Account IntrmyAgt3?:Agent IntrmyAgt3Acct?:Account ' +
      'CdtrAgt?:Agent CdtrAgtAcct?:Account Cdtr?:Party CdtrAcct?:Account UltmtCdtr?:Party InstrForCdtrAgt* ' +
      'InstrForDbtrAgt?:Max140 Purp?:Scheme RgltryRptg[0-10] Tax? RltdRmtInf[0-10] RmtInf? SplmtryData*',
  ),
  AmountType: oneOf('InstdAmt:Amount EqvtAmt'),
}

const DIRECT_DEBITS: Readonly<Record<string, Rule>> = {
  ...COMMON,
  Document: members('CstmrDrctDbtInitn'),
  CstmrDrctDbtInitn: members('GrpHdr PmtInf+ SplmtryData*'),
  PmtInf: members(
    'PmtInfId:Max35 PmtMtd BtchBookg?:Boolean NbOfTxs?:Max15Numeric CtrlSum?:Decimal PmtTpInf? ReqdColltnDt:Date Cdtr:Party ' +
      'CdtrAcct:Account CdtrAgt:Agent CdtrAgtAcct?:Account UltmtCdtr?:Party ChrgBr?:Bearer ChrgsAcct?:Account ' +
      'ChrgsAcctAgt?:Agent CdtrSchmeId?:Party DrctDbtTxInf+',
  ),
  PmtMtd: pattern(/^DD$/),
  PmtTpInf: members('InstrPrty? SvcLvl*:ServiceLevel LclInstrm?:LocalInstrument SeqTp? CtgyPurp?:Scheme'),
  SeqTp: pattern(/^(FRST|RCUR|FNAL|OOFF|RPRE)$/),
  DrctDbtTxInf: members(
    'PmtId PmtTpInf? InstdAmt:Amount ChrgBr?:Bearer DrctDbtTx? UltmtCdtr?:Party DbtrAgt:Agent DbtrAgtAcct?:Account Dbtr:Party ' +
      'DbtrAcct:Account UltmtDbtr?:Party InstrForCdtrAgt?:Max140 Purp?:Scheme RgltryRptg[0-10] Tax? RltdRmtInf[0-10] RmtInf? ' +
      'SplmtryData*',
  ),
  DrctDbtTx: members('MndtRltdInf? CdtrSchmeId?:Party PreNtfctnId?:Max35 PreNtfctnDt?:Date'),
  MndtRltdInf: members(
    'MndtId?:Max35 DtOfSgntr?:Date AmdmntInd?:Boolean AmdmntInfDtls? ElctrncSgntr? FrstColltnDt?:Date FnlColltnDt?:Date Frqcy? ' +
      'Rsn? TrckgDays?',
  ),
  AmdmntInfDtls: members(
    'OrgnlMndtId?:Max35 OrgnlCdtrSchmeId?:Party OrgnlCdtrAgt?:Agent OrgnlCdtrAgtAcct?:Account OrgnlDbtr?:Party ' +
      'OrgnlDbtrAcct?:Account OrgnlDbtrAgt?:Agent OrgnlDbtrAgtAcct?:Account OrgnlFnlColltnDt?:Date OrgnlFrqcy? OrgnlRsn? OrgnlTrckgDays?',
  ),
}

const REVERSALS: Readonly<Record<string, Rule>> = {
  ...COMMON,
  Document: members('CstmrPmtRvsl'),
  CstmrPmtRvsl: members('GrpHdr OrgnlGrpInf OrgnlPmtInfAndRvsl* SplmtryData*'),
  GrpHdr: members(
    'MsgId:Max35 CreDtTm:DateTime Authstn[0-2] BtchBookg?:Boolean NbOfTxs:Max15Numeric CtrlSum?:Decimal GrpRvsl?:Boolean ' +
      'InitgPty?:Party FwdgAgt?:Agent DbtrAgt?:Agent CdtrAgt?:Agent',
  ),
  OrgnlGrpInf: members('OrgnlMsgId:Max35 OrgnlMsgNmId:Max35 OrgnlCreDtTm?:DateTime RvslRsnInf*'),
  OrgnlPmtInfAndRvsl: members(
    'RvslPmtInfId?:Max35 OrgnlPmtInfId:Max35 OrgnlNbOfTxs?:Max15Numeric OrgnlCtrlSum?:Decimal BtchBookg?:Boolean ' +
      'PmtInfRvsl?:Boolean RvslRsnInf* TxInf*',
  ),
  TxInf: members(
    'RvslId?:Max35 OrgnlInstrId?:Max35 OrgnlEndToEndId?:Max35 OrgnlUETR?:UUIDv4 OrgnlInstdAmt?:Amount RvsdInstdAmt?:Amount ' +
      'ChrgBr?:Bearer RvslRsnInf* OrgnlTxRef? SplmtryData*',
  ),
  RvslRsnInf: members('Orgtr?:Party Rsn?:Scheme AddtlInf*:Max105'),
  OrgnlTxRef: members(
    'Amt? ReqdColltnDt?:Date ReqdExctnDt? CdtrSchmeId?:Party PmtTpInf? PmtMtd? MndtRltdInf? RmtInf? UltmtDbtr?:PartyChoice ' +
      'Dbtr?:PartyChoice DbtrAcct?:Account DbtrAgt?:Agent DbtrAgtAcct?:Account CdtrAgt?:Agent CdtrAgtAcct?:Account ' +
      'Cdtr?:PartyChoice CdtrAcct?:Account UltmtCdtr?:PartyChoice Purp?:Scheme',
  ),
  PartyChoice: oneOf('Pty:Party Agt:Agent'),
  PmtMtd: pattern(/^DD$/),
  PmtTpInf: members('InstrPrty? SvcLvl*:ServiceLevel LclInstrm?:LocalInstrument SeqTp? CtgyPurp?:Scheme'),
  SeqTp: pattern(/^(FRST|RCUR|FNAL|OOFF|RPRE)$/),
  MndtRltdInf: members('MndtId?:Max35 DtOfSgntr?:Date AmdmntInd?:Boolean AmdmntInfDtls?'),
}

/** Lists the violations of the schema in a file of credit transfers; empty when it is valid. @throws Error for no XML */
export const pain001Errors = (xml: string): string[] =>
  schemaErrors(xml, 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09', CREDIT_TRANSFERS)

/** Lists the violations of the schema in a file of direct debits; empty when it is valid. @throws Error for no XML */
export const pain008Errors = (xml: string): string[] =>
  schemaErrors(xml, 'urn:iso:std:iso:20022:tech:xsd:pain.008.001.08', DIRECT_DEBITS)

/** Lists the violations of the schema in a file of reversals; empty when it is valid. @throws Error for no XML */
export const pain007Errors = (xml: string): string[] =>
  schemaErrors(xml, 'urn:iso:std:iso:20022:tech:xsd:pain.007.001.09', REVERSALS)
