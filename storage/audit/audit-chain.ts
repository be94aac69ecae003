/**
 * The checks of the chain over the journal (storage/journal/journal-chain.ts). Checkpoints are verified one after the
 * other, each from its present lines, so a journal of any length is verified in the memory of one checkpoint.
 */
import { BLOCK_DIGESTS, balanceLines, INTERNAL_CHAIN, internalLines } from '../journal/journal-chain.ts'

/**
 * SQL of the journal lines that a checkpoint covers, as they are today: lines of a balance by number, lines that touch
 * no balance by time. One of the two is always empty.
 */
const linesOf = (
  c: string,
): string => `${balanceLines(`${c}.chain_id`, `${c}.first_sequence - 1`, `${c}.last_sequence`)}
  union all select * from (${internalLines(`${c}.booked_from`, `${c}.booked_until`, `${c}.first_sequence - 1`)}) i`

const VERIFIED = `select c.*, coalesce(lag(c.last_sequence) over by_chain, 0) + 1 as expected_first,
    sha256(coalesce(lag(c.hash) over by_chain, ''::bytea) || coalesce(l.digests, ''::bytea)) as expected_hash
  from journal_checkpoint c cross join lateral (select string_agg(digest, ''::bytea order by sequence) as digests from (${linesOf('c')}) l) l
  window by_chain as (partition by c.chain_id order by c.first_sequence)`

/** Lines of one checkpoint that a finding lists, at most. */
const NAMED_MAX = 20

/** Checks of storage/audit/audit.ts. `chain_id` is a balance, or zeros for lines that touch no balance. */
export const CHAIN_CHECKS = [
  {
    name: 'journal chain',
    promise: 'no line of the journal was changed, removed, moved or put in since it was chained',
    sql: `select case when v.chain_id = '${INTERNAL_CHAIN}' then null else v.chain_id end as balance_id, v.first_sequence, v.last_sequence, v.block, n.sequences
      from (${VERIFIED}) v left join lateral (
        select array_agg(sequence order by sequence) as sequences from (
          select coalesce(l.sequence, m.sequence) as sequence from (${linesOf('v')}) l
          full join (select v.first_sequence + n as sequence, substr(v.marks, (n * 8 + 1)::int, 8) as mark from generate_series(0, v.last_sequence - v.first_sequence) n) m
            on m.sequence = l.sequence
          where substr(l.digest, 1, 8) is distinct from m.mark order by 1 limit ${NAMED_MAX}) other) n on true
      where v.hash <> v.expected_hash or v.first_sequence <> v.expected_first`,
  },
  {
    name: 'chained journals',
    promise: 'a chain ends with its last checkpoint, and its journal is no shorter',
    sql: `select coalesce(h.chain_id, l.chain_id) as balance_id, h.sequence as chained, l.last_sequence as checkpoint, b.sequence as journal
      from journal_chain h
      full join (select distinct on (chain_id) chain_id, last_sequence, hash from journal_checkpoint order by chain_id, first_sequence desc) l on l.chain_id = h.chain_id
      left join balance b on b.id = coalesce(h.chain_id, l.chain_id)
      where (h.sequence, h.hash) is distinct from (l.last_sequence, l.hash)
        or (b.id is null and coalesce(h.chain_id, l.chain_id) <> '${INTERNAL_CHAIN}') or b.sequence < h.sequence`,
  },
  {
    name: 'journal blocks',
    promise: 'each block is over the one before it and its own checkpoints, and every checkpoint is in one',
    sql: `select coalesce(b.number, c.block) as block, b.hash is not null as exists, c.lines from journal_block b
      full join (select c.block, ${BLOCK_DIGESTS} as digests, sum(c.last_sequence - c.first_sequence + 1) as lines from journal_checkpoint c group by c.block) c on c.block = b.number
      left join journal_block before on before.number = b.number - 1
      where not coalesce(b.hash = sha256(coalesce(before.hash, ''::bytea) || c.digests) and b.lines = c.lines and (before.number is not null or b.number = 1), false)`,
  },
] as const

/** A block of the chain as it was kept outside of the database. */
export interface KeptBlock {
  readonly number: bigint
  /** Hexadecimal. */
  readonly hash: string
}

/**
 * Makes the check against a block kept elsewhere. It finds a chain that was rewritten as a whole, because the kept
 * block cannot be rewritten.
 */
export function keptBlockCheck({ number, hash }: KeptBlock) {
  return {
    name: `block ${number} as kept`,
    promise: 'the block has the hash that was kept outside of the database',
    sql: `select $1::text as block, $2::text as kept, encode(b.hash, 'hex') as found from (select 1) one left join journal_block b on b.number = $1::bigint
      where encode(b.hash, 'hex') is distinct from lower($2::text)`,
    values: [number.toString(), hash],
  }
}
