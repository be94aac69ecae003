/** A worker without a service: it takes requests at once, unless the file that it is told of exists; then it fails. */
import { existsSync } from 'node:fs'
import { tellListening } from '../../http/cluster/worker.ts'

if (existsSync(process.env['FRAGILE_WORKER_FAILS'] as string)) process.exit(3)
tellListening(`worker ${process.env['VOSTRO_WORKER']}`)
