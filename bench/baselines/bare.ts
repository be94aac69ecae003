/**
 * The *bare* baseline: the HTTP stack the service stands on, doing nothing. Koa, a router and a body parser; a POST
 * that parses the same JSON and sends it back with 201, and a GET that sends a balance-sized constant. What is left
 * between this and the service is what the service costs.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Router from '@koa/router'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import { answerParent } from '../process.ts'

const BALANCE = {
  id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
  customerId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e60',
  currency: 'EUR',
  name: 'Main',
  type: 'current',
  parentBalanceId: null,
  status: 'active',
  isDefault: true,
  book: { amountMinor: '1000000', currency: 'EUR' },
  held: { amountMinor: '0', currency: 'EUR' },
  available: { amountMinor: '1000000', currency: 'EUR' },
  metadata: {},
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  closedAt: null,
}

const router = new Router()
router.post('/v1/payments', (context) => {
  context.status = 201
  context.body = context.request.body
})
router.get('/v1/balances/:balanceId', (context) => {
  context.body = BALANCE
})

const app = new Koa()
app.use(koaBody())
app.use(router.routes())
const server = createServer(app.callback())

async function listen(): Promise<string> {
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

answerParent<object, string>(listen, async () => {
  server.close()
  server.closeAllConnections()
})
