/** The parameters of list operations in the OpenAPI document: filters, sort and paging. */
import type { Filter, ListDeclaration } from '../../lib/contract/list.ts'
import { type Json, parameter } from './openapi-components.ts'

function filterSchema(filter: Filter): Json {
  switch (filter.kind) {
    case 'words':
      return {
        type: 'string',
        description:
          `One or more of ${filter.values.join(', ')}, separated by commas.` +
          (filter.default === undefined ? '' : ` Default: ${filter.default.join(', ')}.`),
      }
    case 'ids':
      return {
        type: 'string',
        description: `UUIDs separated by commas, at most 100.${filter.operatorOnly === true ? ' Operators only.' : ''}`,
      }
    case 'text':
      return { type: 'string', description: `Values of up to ${filter.max} characters, separated by commas.` }
    case 'boolean':
      return { type: 'boolean' }
    case 'integer':
      return { type: 'integer', minimum: filter.min, maximum: filter.max }
    case 'amountFrom':
    case 'amountTo':
      return {
        type: 'string',
        description: `Minor units, inclusive.${filter.oneCurrency === true ? ' Needs exactly one `filter[currency]`.' : ''}`,
      }
    case 'dateFrom':
    case 'dateTo':
      return { type: 'string', format: 'date', description: 'Inclusive.' }
    case 'timeFrom':
    case 'timeTo':
      return {
        type: 'string',
        description: 'RFC 3339 timestamp or date, inclusive; a date means its whole day in UTC.',
      }
    default:
      return filter satisfies never
  }
}

export function listParameters(list: ListDeclaration): Json[] {
  const properties: Json = {}
  for (const [name, filter] of Object.entries(list.filters)) properties[name] = filterSchema(filter)
  const sort = {
    name: 'sort',
    in: 'query',
    required: false,
    description: 'A leading `-` is descending.',
    schema: { type: 'string', enum: list.sorts, default: list.sorts[0] },
  }
  const filter = {
    name: 'filter',
    in: 'query',
    required: false,
    style: 'deepObject',
    explode: true,
    description:
      '`filter[name]=value`. Different filters are combined with AND.' +
      (list.metadata === true ? ' At most five of them `filter[metadata.<key>]`, each an exact match.' : ''),
    schema:
      list.metadata === true
        ? {
            type: 'object',
            properties,
            patternProperties: { '^metadata\\.[A-Za-z0-9_-]{1,40}$': { type: 'string', maxLength: 500 } },
            additionalProperties: false,
          }
        : { type: 'object', properties, additionalProperties: false },
  }
  const q = {
    name: 'q',
    in: 'query',
    required: false,
    description: 'Free text; all words must match.',
    schema: { type: 'string', minLength: 2, maxLength: 100 },
  }
  return [
    parameter('Cursor'),
    parameter('Limit'),
    sort,
    filter,
    parameter('WithTotal'),
    ...(list.q === true ? [q] : []),
  ]
}
