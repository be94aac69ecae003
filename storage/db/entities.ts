/**
 * The unit of work over rows that are not hot: MikroORM's entity manager, opened for a tenant. It sees and adds rows of
 * that tenant alone: the condition is a filter that is on for every entity, is derived from the entity's columns, and
 * fails without a tenant. It runs on the transaction of `inTransaction`, and reads on the pool; it has no connection of
 * its own. All calls of a transaction for one tenant share one manager, so a row that was read is written with its
 * changed columns and compared by its version.
 *
 * For rows that change now and then: a PATCH of an address takes 1.2 ms of the node's CPU, 0.8 ms more than with
 * hand-written SQL, most of it in MikroORM's query builder (four statements, on a busy machine). Paths of payments
 * therefore have SQL of their own.
 *
 * Times are epoch milliseconds, dates are strings, money is bigint (`entity-types.ts`). Changes reach Postgres when the
 * function that made them returns, because other statements of the transaction may read them.
 */
import {
  FlushMode,
  LockMode,
  MikroORM,
  OptimisticLockError,
  type EntityManager,
  type EntityMetadata,
  type EntityName,
  type EntitySchema,
  type FilterQuery,
  type QueryOrderMap,
  type RequiredEntityData,
  type Transaction,
} from '@mikro-orm/core'
import { refuse } from '../../lib/base/problems.ts'
import { EntityDriver, type StatementRunner } from './entity-driver.ts'
import { listManaged } from './entity-types.ts'
import { Pool } from './pool.ts'
import { inUnit } from './unit.ts'

/**
 * Whose rows are meant: those of a customer, of an operator, of a tenant that may be either, or of an owner that may be
 * a customer or a person.
 */
export type TenantScope =
  | { readonly customerId: string }
  | { readonly operatorId: string }
  | { readonly tenantId: string }
  | { readonly ownerId: string }

/** Work of the service itself. The words say which, for readers of the code. */
interface SystemScope {
  readonly everyTenant: string
}

type Scope = TenantScope | SystemScope
type TenantKey = 'customerId' | 'operatorId' | 'tenantId' | 'ownerId'

/** The columns that say whose a row is, the closest first. */
const TENANT_COLUMNS: Readonly<Record<TenantKey, readonly string[]>> = {
  customerId: ['customer_id', 'tenant_id'],
  operatorId: ['operator_id', 'tenant_id'],
  tenantId: ['tenant_id'],
  ownerId: ['owner_id'],
}
/** The tables whose rows are tenants themselves. */
const TENANT_TABLES: Readonly<Record<string, TenantKey>> = { customer: 'customerId', operator: 'operatorId' }

/** The name of the filter. */
const TENANT = 'tenant'

/** Opens the rows of one tenant, for the transaction on `client` or for reading on the pool. */
export function entitiesOf(client: StatementRunner, tenant: TenantScope): Entities {
  return open(client, tenant)
}

/** Opens the rows of all tenants, for work of the service itself; `reason` names that work. */
export function entitiesOfEveryTenant(client: StatementRunner, reason: string): Entities {
  return open(client, { everyTenant: reason })
}

function open(client: StatementRunner, scope: Scope): Entities {
  return inUnit(client, Object.entries(scope).flat().join(' '), () => new Entities(client, scope))
}

/** Rows as entities. What `find` and `lock` return is managed: `save` writes what was changed in it. */
export class Entities {
  readonly #em: EntityManager
  readonly #scope: Scope
  readonly #writes: boolean

  constructor(client: StatementRunner, scope: Scope) {
    this.#em = orm().em.fork()
    this.#em.setFilterParams(TENANT, { scope })
    // MikroORM passes its transaction on to the driver unseen; to ours it is the connection.
    this.#em.setTransactionContext(client as unknown as Transaction)
    this.#scope = scope
    this.#writes = !(client instanceof Pool)
  }

  /** Finds the rows that match. */
  async find<Entity extends object>(
    entity: EntityName<Entity>,
    where: FilterQuery<NoInfer<Entity>>,
    orderBy: QueryOrderMap<NoInfer<Entity>> = {},
  ): Promise<Entity[]> {
    return (await this.#em.find(entity, where, { orderBy })) as Entity[]
  }

  /** Finds one row; null when the tenant has none that matches. */
  async findOne<Entity extends object>(
    entity: EntityName<Entity>,
    where: FilterQuery<NoInfer<Entity>>,
  ): Promise<Entity | null> {
    return (await this.#em.findOne(entity, where)) as Entity | null
  }

  /**
   * Returns a row by its id; one that this transaction has read already is not read again.
   *
   * @throws Error when the tenant has none: the caller has not checked
   */
  async get<Entity extends { id: string }>(entity: EntityName<Entity>, id: string): Promise<Entity> {
    const found = await this.findOne(entity, { id } as FilterQuery<NoInfer<Entity>>)
    if (found === null) throw new Error(`The tenant has no ${this.#em.getMetadata().get(entity).className} ${id}.`)
    return found
  }

  /** Finds one row as it is now, and locks it until the transaction ends. */
  async lock<Entity extends object>(
    entity: EntityName<Entity>,
    where: FilterQuery<NoInfer<Entity>>,
  ): Promise<Entity | null> {
    this.#assertWrites()
    // Refreshed, because the row may have changed since this transaction first read it.
    const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const
    return (await this.#em.findOne(entity, where, options)) as Entity | null
  }

  async count<Entity extends object>(
    entity: EntityName<Entity>,
    where: FilterQuery<NoInfer<Entity>> = {},
  ): Promise<number> {
    return await this.#em.count(entity, where)
  }

  /** Adds a row of the tenant; its version is 1. @throws the driver's errors, such as a unique violation */
  async insert<Entity extends object>(
    entity: EntityName<Entity>,
    data: RequiredEntityData<NoInfer<Entity>>,
  ): Promise<Entity> {
    this.#assertWrites()
    const meta = this.#em.getMetadata().get(entity)
    const owner = tenantConditionOf(meta, this.#scope)
    for (const [property, id] of Object.entries(owner)) {
      if ((data as Record<string, unknown>)[property] !== id)
        throw new Error(`A ${meta.className} of another tenant was to be added.`)
    }
    const added = this.#em.create(entity, data as never) as Entity
    this.#em.persist(added)
    await this.save()
    return added
  }

  /**
   * Writes all changes of managed entities, and raises the versions of what has changed.
   *
   * @throws ProblemError `precondition-failed` when a row has changed since it was read without a lock; the driver's
   * errors
   */
  async save(): Promise<void> {
    this.#assertWrites()
    try {
      await this.#em.flush()
    } catch (error) {
      if (error instanceof OptimisticLockError)
        refuse('precondition-failed', 'The resource has changed since it was read.')
      throw error
    }
  }

  /** Deletes the row of a managed entity. */
  async remove(entity: object): Promise<void> {
    this.#assertWrites()
    this.#em.remove(entity)
    await this.save()
  }

  #assertWrites(): void {
    if (!this.#writes) throw new Error('Rows are locked and written in a transaction.')
  }
}

/** The process has a single instance: it knows the entities and holds no connection. */
let theOrm: { readonly orm: MikroORM<EntityDriver>; readonly entities: number } | undefined

/** Discovers the managed entities at the first use, and again where modules that were loaded since declare more. */
function orm(): MikroORM<EntityDriver> {
  const entities = listManaged()
  if (theOrm?.entities !== entities.size) theOrm = { orm: discover(entities), entities: entities.size }
  return theOrm.orm
}

function discover(entities: ReadonlySet<EntitySchema>): MikroORM<EntityDriver> {
  return new MikroORM<EntityDriver>({
    driver: EntityDriver,
    dbName: 'unused',
    entities: [...entities],
    filters: {
      [TENANT]: {
        name: TENANT,
        default: true,
        cond: ({ scope }, _type, em: EntityManager, _options, name) =>
          tenantConditionOf(em.getMetadata().getByClassName(name as never) as EntityMetadata, scope as Scope),
      },
    },
    // `save` writes at once, so there is nothing that a read would have to write first.
    flushMode: FlushMode.COMMIT,
    // A reference is read as an id; no join to the row that it names.
    autoJoinRefsForFilters: false,
    debug: false,
    logger: () => undefined,
    colors: false,
    forceUtcTimezone: true,
  })
}

/**
 * The condition that a row belongs to the scope.
 *
 * @throws Error when no column of the entity says whose its rows are
 */
function tenantConditionOf(meta: EntityMetadata, scope: Scope): Record<string, string> {
  if ('everyTenant' in scope) return {}
  const [key, id] = Object.entries(scope)[0] as [TenantKey, string]
  const columns = TENANT_TABLES[meta.tableName] === key ? ['id'] : TENANT_COLUMNS[key]
  for (const column of columns) {
    const property = Object.values(meta.properties).find(({ fieldNames }) => fieldNames?.[0] === column)
    if (property !== undefined) return { [property.name]: id }
  }
  throw new Error(
    `No column of ${meta.tableName} says of which ${key} its rows are; open it for every tenant, with the reason.`,
  )
}
