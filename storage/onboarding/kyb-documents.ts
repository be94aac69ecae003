/** The documents of KYB cases, with their files. Statements only; rules are in lib/onboarding. */
import type { KybDocumentFacts, KybDocumentRecord, KybDocumentType } from '../../lib/onboarding/kyb-document.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import { expression, select } from '../db/select.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { DOCUMENT, documentRecord } from '../documents/documents.ts'
import { KybDocument } from './onboarding-entities.ts'

/** The columns of the case's own row, beside those of the file. */
const FACTS = select({
  kybType: expression<KybDocumentType>('k.type'),
  personId: expression<string | null>('k.person_id'),
  requirement: expression<string | null>('k.requirement'),
  expiresOn: expression<string | null>('k.expires_on::text'),
})

/** Lists the documents of a case, the oldest first. */
export async function listKybDocuments(
  client: StatementRunner,
  customerId: string,
): Promise<readonly KybDocumentRecord[]> {
  const { rows } = await client.query<object>({
    name: 'kyb_documents',
    text: `select ${FACTS.named}, ${DOCUMENT.named} from kyb_document k join document d on d.id = k.id where k.customer_id = $1 order by k.id`,
    values: [customerId],
  })
  return rows.map((row) => {
    const { kybType, ...facts } = FACTS.readNamed(row)
    return { type: kybType, ...facts, file: documentRecord(DOCUMENT.readNamed(row)) }
  })
}

/** Adds a document to a case, under the id of its file. */
export async function insertKybDocument(
  client: TransactionClient,
  document: KybDocumentFacts & { readonly id: string; readonly customerId: string; readonly createdAt: number },
): Promise<void> {
  const { customerId } = document
  await entitiesOf(client, { customerId }).insert(KybDocument, document)
}

/** Deletes a document of a case; the file is the caller's to delete. */
export async function deleteKybDocument(client: TransactionClient, customerId: string, id: string): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  await rows.remove(await rows.get(KybDocument, id))
}
