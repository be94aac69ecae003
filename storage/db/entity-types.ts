/** Declarations of the entities that entity managers serve, and how they hold values of Postgres. */
import { p, Type, type EntitySchema, type Platform } from '@mikro-orm/core'
import { timestamp } from '../../lib/base/clock.ts'

const managedEntities = new Set<EntitySchema>()

/** Declares that rows of this entity are read and written through entity managers (`entities.ts`). */
export function managed<Declared extends object>(entity: Declared): Declared {
  managedEntities.add(entity as unknown as EntitySchema)
  return entity
}

/** The entities that have been declared so far. */
export const listManaged = (): ReadonlySet<EntitySchema> => managedEntities

/** A `timestamptz` as epoch milliseconds, as all layers above hold times. */
class Instant extends Type<number, string> {
  override convertToDatabaseValue(value: number | null): string {
    // Null passes unchanged: the base class types it away.
    return value === null || value === undefined ? (value as unknown as string) : timestamp(value)
  }

  override convertToJSValue(value: string | null, platform: Platform): number {
    return value === null || value === undefined
      ? (value as unknown as number)
      : (platform.parseDate(value) as Date).getTime()
  }

  override compareAsType(): string {
    return 'number'
  }

  override getColumnType(): string {
    return 'timestamptz'
  }
}

/** A column `timestamptz`; epoch milliseconds in the entity. */
export const instant = () => p.type(Instant)

/** A version of type `bigint`: a number in the entity, which the unit of work compares and raises at each update. */
export const bigVersion = () => p.bigint('number').version()
