/** Reports of Bacs as service users get them, around what a test is about. */

const document = (inner: string): string =>
  `<?xml version="1.0" encoding="ISO-8859-1"?>
<BACSDocument xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="newbacs-advices.xsd">
<Data>${inner}</Data><SignatureMethod></SignatureMethod><Signature></Signature></BACSDocument>
`

export interface ReturnedFacts {
  readonly ref?: string
  readonly code?: string
  readonly value?: string
  readonly original?: string
}

/** A returned debit of ARUDD. */
export const returned = ({
  ref = 'MEMBER0001',
  code = '1012',
  value = '65.00',
  original = '2026-11-24',
}: ReturnedFacts = {}): string =>
  `<ReturnedDebitItem ref="${ref}" transCode="17" returnCode="${code}" returnDescription="INSTRUCTION CANCELLED" originalProcessingDate="${original}" valueOf="${value}" currency="GBP">
<PayerAccount number="87654321" ref="${ref}" name="FRED SMITH" sortCode="40-05-15" bankName="A BANK" branchName="A BRANCH"></PayerAccount></ReturnedDebitItem>`

/** An ARUDD of one account, with the totals that it states. */
export const arudd = (items: readonly string[], count: string, sum: string, user = '123456'): string =>
  document(`<ARUDD><Header reportType="REFT1234" adviceNumber="000" currentProcessingDate="2026-11-26"></Header>
<AddresseeInformation name="NORDEN BANK"></AddresseeInformation>
<ServiceLicenseInformation userName="NORDEN BANK" userNumber="${user}"></ServiceLicenseInformation>
<Advice><OriginatingAccountRecords><OriginatingAccountRecord>
<OriginatingAccount name="NORDEN BANK" number="11223344" sortCode="20-00-00" type="0"></OriginatingAccount>
${items.join('\n')}
<Totals numberOf="${count}" valueOf="${sum}" currency="GBP"></Totals>
</OriginatingAccountRecord></OriginatingAccountRecords></Advice></ARUDD>`)

/** An AUDDIS, or another report of advices, with these elements. */
export const auddis = (...advices: readonly string[]): string =>
  document(`<MessagingAdvices><MessagingHeader user-number="123456"/>${advices.join('\n')}</MessagingAdvices>`)

/** An advice about one instruction, with further attributes. */
export const advice = (type: string, ref: string, attributes: string): string =>
  `<MessagingAdvice user-number="123456" record-type="${type}" effective-date="2026-11-25" reference="${ref}" payer-name="FRED SMITH" payer-sort-code="400515" payer-account-number="87654321" ${attributes}/>`

/** An ADDACS with one advice. */
export const addacs = (attributes: string, ref = 'MEMBER0001'): string => auddis(advice('A', ref, attributes))

export interface ClaimFacts {
  readonly ref?: string
  readonly total?: string
  readonly code?: string
  readonly debits?: readonly (readonly [day: string, amount: string])[]
}

/** A claim of DDICA. */
export const claim = ({
  ref = 'MEMBER0001',
  total = '130.00',
  code = '2',
  debits = [
    ['2026-10-25', '65.00'],
    ['2026-11-25', '65.00'],
  ],
}: ClaimFacts = {}): string =>
  `<DDICAdvice><SeqNo>1</SeqNo><PayingBankReference>PB-77</PayingBankReference><SUReference>${ref}</SUReference>
<ReasonCode>${code}</ReasonCode><ReasonCodeMeaning>No instruction</ReasonCodeMeaning><PayerSortCode>40-05-15</PayerSortCode>
<PayerAccount>87654321</PayerAccount><PayerName>FRED SMITH</PayerName><NoOfAdvForClaim>1</NoOfAdvForClaim>
<DDCollections>${debits.map(([day, amount]) => `<DDCollection><DateOfDirectDebit>${day}</DateOfDirectDebit><Amount>${amount}</Amount></DDCollection>`).join('')}</DDCollections>
<TotalAmount>${total}</TotalAmount></DDICAdvice>`

/** A DDICA with its total. */
export const ddica = (
  claims: readonly string[],
  { total, group = 'NewAdvices' }: { readonly total: string; readonly group?: string },
): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<VocaDocument><Data><Document type="AdviceReport"><ReportType>DDICA</ReportType><ServiceUserNumber>123456</ServiceUserNumber>
<${group}>${claims.join('\n')}<TotalNumberOfAdvices>${claims.length}</TotalNumberOfAdvices>
<TotalValueOfDebits>${total}</TotalValueOfDebits><DateOfDebit>2026-12-15</DateOfDebit></${group}>
</Document></Data></VocaDocument>
`
