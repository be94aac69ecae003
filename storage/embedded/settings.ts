/** The settings of the embedded Postgres, each with its reason. */
import { totalmem } from 'node:os'

const MEGABYTE = 1_048_576

/** Chooses the settings for an OLTP ledger on a small machine that Postgres shares with the service. */
export function chooseSettings(): Record<string, string> {
  const memory = Math.floor(totalmem() / MEGABYTE)
  return {
    // E4: connections from this machine only.
    listen_addresses: '127.0.0.1',
    // No socket file: its usual directory may not be writable, and all clients use TCP.
    unix_socket_directories: '',
    // Enough for the pools of one vostro; every connection costs memory.
    max_connections: '100',
    // The hot rows and indexes of a day; an eighth of the memory on a machine smaller than 2 GB.
    shared_buffers: `${Math.max(32, Math.min(256, Math.floor(memory / 8)))}MB`,
    // The likely size of the system's own cache, for the planner only.
    effective_cache_size: `${Math.max(64, Math.floor(memory / 2))}MB`,
    // Statements here sort pages, not tables.
    work_mem: '8MB',
    // Index builds and vacuum, one at a time.
    maintenance_work_mem: '64MB',
    // An answer that left means a commit on the disk: these three settings guarantee that.
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    // After each checkpoint every page is logged in full once more, so checkpoints are rare …
    checkpoint_timeout: '15min',
    max_wal_size: '2GB',
    // … and keep segments for reuse instead of making new ones under load.
    min_wal_size: '512MB',
    // Room for several group commits between two flushes.
    wal_buffers: '16MB',
    // These binaries have only pglz, whose processor time costs more than the saved bytes are worth.
    wal_compression: 'off',
    // Compiling a plan takes longer than running one of the service's statements.
    jit: 'off',
    // No statement here is worth a second core, and parallel ones need /dev/shm, which containers keep small.
    max_parallel_workers_per_gather: '0',
    // Solid-state disks: a random page costs about as much as the next one.
    random_page_cost: '1.1',
    // Balances and payments are updated constantly: vacuum early and often, in small portions …
    autovacuum_naptime: '15s',
    autovacuum_vacuum_scale_factor: '0.05',
    // … with statistics from fewer rows: no table here is skewed enough to need 30 000 rows, and reading so many of a
    // table that grows by thousands a second took a tenth of the processor time of all payments.
    default_statistics_target: '20',
    // … and without falling behind the writes.
    autovacuum_vacuum_cost_limit: '2000',
    // The same time zone everywhere.
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The log is for starts, stops and crashes; the sender of a failed statement reports the failure.
    log_min_messages: 'log',
    log_checkpoints: 'off',
  }
}
