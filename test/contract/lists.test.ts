/** The lists of the contract against those of the routes: filters, sorts, searches and page sizes, in both directions. */
import t from 'tap'
import { routes } from '../../http/server/routes.ts'
import type { Filter } from '../../lib/contract/list.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../../lib/contract/page.ts'
import { BOOLEAN_FILTERS, CONTRACT_LISTS, FILTER_DEFAULTS, PAGE_LIMIT } from './data/lists.ts'
import { onlyKnown, onlyKnownBeyond } from './known.ts'

const declared = new Map(routes.map((route) => [route.operationId, route]))

/** The kind of value that a filter takes, by its name. */
function kindOf(name: string): 'value' | 'boolean' | 'from' | 'to' {
  if (BOOLEAN_FILTERS.includes(name)) return 'boolean'
  return /^(?:\w+F|f)rom$/.test(name) ? 'from' : /^(?:\w+T|t)o$/.test(name) ? 'to' : 'value'
}

const KINDS: Readonly<Record<Filter['kind'], ReturnType<typeof kindOf>>> = {
  words: 'value',
  ids: 'value',
  text: 'value',
  // A number of hours is one value.
  integer: 'value',
  boolean: 'boolean',
  amountFrom: 'from',
  amountTo: 'to',
  dateFrom: 'from',
  dateTo: 'to',
  timeFrom: 'from',
  timeTo: 'to',
}

t.test('each list has the filters, sorts and searches of the contract', (t) => {
  const missing: string[] = []
  const beyond: string[] = []
  let cells = 0
  for (const { id, filters, sorts, q, limit } of CONTRACT_LISTS) {
    const route = declared.get(id)
    const list = route?.list
    if (list === undefined) {
      missing.push(id)
      continue
    }
    const has = new Set([...Object.keys(list.filters), ...(list.metadata === true ? ['metadata.*'] : [])])
    for (const name of filters) {
      cells += 1
      if (!has.has(name)) missing.push(`${id} filter ${name}`)
      const filter = list.filters[name]
      if (filter !== undefined) t.equal(KINDS[filter.kind], kindOf(name), `${id} ${name}: ${filter.kind}`)
    }
    for (const name of has) if (!filters.includes(name)) beyond.push(`${id} filter ${name}`)
    for (const [name, filter] of Object.entries(list.filters)) {
      const value = filter.kind === 'words' ? filter.default : undefined
      const wanted = FILTER_DEFAULTS[`${id} ${name}`]
      if (wanted !== undefined) t.strictSame(value, wanted, `${id} ${name}: its default`)
      else if (value !== undefined) beyond.push(`${id} filter ${name} is ${value.join(', ')} by default`)
    }
    cells += sorts.length + 2
    if (limit !== PAGE_LIMIT_MAX) missing.push(`${id} pages of ${limit}`)
    t.equal(list.sorts[0], sorts[0], `${id}: the default sort`)
    for (const sort of sorts) if (!list.sorts.includes(sort)) missing.push(`${id} sort ${sort}`)
    for (const sort of list.sorts) if (!sorts.includes(sort)) beyond.push(`${id} sort ${sort}`)
    if (q && list.q !== true) missing.push(`${id} q`)
    if (!q && list.q === true) beyond.push(`${id} q`)
  }
  t.comment(`${cells} filters, sorts and searches of ${CONTRACT_LISTS.length} lists`)
  onlyKnown(t, 'lists', missing)
  onlyKnownBeyond(t, 'lists', beyond)
  t.end()
})

t.test('pages are as large as the contract says', (t) => {
  t.strictSame({ default: PAGE_LIMIT_DEFAULT, max: PAGE_LIMIT_MAX }, PAGE_LIMIT)
  t.end()
})

t.test('each paged operation has its list in the contract, or is known to be more', (t) => {
  const known = new Set(CONTRACT_LISTS.map(({ id }) => id))
  const others = routes.filter(({ list, operationId }) => list !== undefined && !known.has(operationId))
  // Their filters and sorts are the product's own: each has a default sort, and no filter that nothing explains.
  for (const { operationId, list } of others) t.ok(list!.sorts.length > 0, operationId)
  t.comment(`lists whose filters the contract leaves open: ${others.map((route) => route.operationId).join(', ')}`)
  t.end()
})
