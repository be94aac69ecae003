/** Schemas of notes that people write on transactions. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import { Text, Timestamp, Uuid } from '../contract/primitives.ts'

const TEXT_MAX = 1_000

export const Annotation = Type.Object(
  {
    id: Uuid,
    transactionId: Uuid,
    text: Type.String(),
    author: Type.Object({ id: Uuid, name: Type.String() }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Annotation' },
)
export type Annotation = Static<typeof Annotation>

export const AnnotationWrite = Type.Object(
  { text: Text(1, TEXT_MAX) },
  { title: 'AnnotationWrite', additionalProperties: false, examples: [{ text: 'Approved by the board on 3 May.' }] },
)
export type AnnotationWrite = Static<typeof AnnotationWrite>

export const annotationList = list({ filters: {}, sorts: ['createdAt', '-createdAt'] })
