/** The envelope of every list. */
import Type, { type TArray, type TObject, type TSchema } from 'typebox'
import { Nullable } from './primitives.ts'

export const PAGE_LIMIT_MAX = 100
export const PAGE_LIMIT_DEFAULT = 25

export const PageInfo = Type.Object(
  {
    nextCursor: Nullable(Type.String({ description: 'Pass as `cursor` for the following page.' })),
    prevCursor: Nullable(Type.String({ description: 'Pass as `cursor` for the preceding page.' })),
    limit: Type.Integer({ minimum: 1, maximum: PAGE_LIMIT_MAX }),
    total: Type.Optional(Type.Integer({ minimum: 0, description: 'Only with `withTotal=true` and without `cursor`.' })),
  },
  { title: 'PageInfo' },
)

/** Builds the schema of a page with rows of one kind, under the given title. */
export function PageOf<Row extends TSchema>(
  title: string,
  row: Row,
): TObject<{ data: TArray<Row>; page: typeof PageInfo }> {
  return Type.Object({ data: Type.Array(row), page: PageInfo }, { title })
}
