/** A person who uses the API: signs in with password and authenticator, proves themselves, and sends what they want. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import { totpCode } from '../../lib/identity/totp.ts'
import { Client, Reply, type RawRequest } from './client.ts'

/** How often a request is sent that is refused because the machine is busy, and how long it waits in between. */
const ATTEMPTS_MAX = 20
const BUSY_PAUSE_MS = 150

export interface Login {
  readonly email: string
  readonly password: string
  readonly totpSecret: string
}

/** The body of a session that was opened. */
export interface Opened {
  readonly sessionId: string
  readonly status: 'mfa_required' | 'active'
  readonly mfa: { readonly methods: readonly string[]; readonly challengeId: string } | null
  readonly token: string
  readonly csrfToken: string
  readonly expiresAt: string
  readonly idleTimeoutSeconds: number
}

export interface PersonOptions {
  readonly url: () => string
  readonly login: Login
  /** The tenant they work for unless a request says otherwise. */
  readonly tenantId: string
  /** What the service takes for the time. */
  readonly now: () => number
}

export class Person {
  /** The token they hold at the moment. */
  token = ''
  csrf = ''
  sessionId = ''
  readonly login: Login
  readonly tenantId: string
  readonly #options: PersonOptions

  constructor(options: PersonOptions) {
    this.#options = options
    this.login = options.login
    this.tenantId = options.tenantId
  }

  /** What their authenticator shows now. */
  code(): string {
    return totpCode(this.login.totpSecret, this.#options.now())
  }

  /** A code that their authenticator does not show. */
  wrongCode(): string {
    return String((Number(this.code()) + 123_456) % 1_000_000).padStart(6, '0')
  }

  /** Sends a request with the token they hold; with nothing when `as` is null. */
  async send<Body = unknown>(method: string, path: string, body?: unknown, headers: RawRequest['headers'] = {}, as: string | null = this.token): Promise<Reply<Body>> {
    const client = new Client({ url: this.#options.url, apiKey: as ?? '', tenantId: this.tenantId })
    const request = {
      method,
      headers: {
        ...(as === null ? { authorization: undefined } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    // A machine that is busy with other tests is not what a test of people is about; what was refused was not begun.
    for (let attempt = 1; ; attempt++) {
      const reply = await client.send<Body>(`/v1${path}`, request)
      if (reply.status !== 503 || attempt === ATTEMPTS_MAX) return reply
      await pause(BUSY_PAUSE_MS)
    }
  }

  get<Body = unknown>(path: string, headers: RawRequest['headers'] = {}): Promise<Reply<Body>> {
    return this.send<Body>('GET', path, undefined, headers)
  }

  post<Body = unknown>(path: string, body?: unknown, headers: RawRequest['headers'] = {}): Promise<Reply<Body>> {
    return this.send<Body>('POST', path, body, headers)
  }

  /** The first half of signing in. */
  async password(password = this.login.password): Promise<Reply<Opened>> {
    return await this.send<Opened>('POST', '/sessions', { email: this.login.email, password }, {}, null)
  }

  #hold({ token, csrfToken, sessionId }: Pick<Opened, 'token' | 'csrfToken'> & { readonly sessionId?: string }): void {
    this.token = token
    this.csrf = csrfToken
    if (sessionId !== undefined) this.sessionId = sessionId
  }

  /** Signs in with both factors. @throws when the service refuses */
  async signIn(): Promise<this> {
    const first = (await this.password()).body
    this.#hold(first)
    if (first.mfa === null) return this
    const { challengeId } = first.mfa
    this.#hold((await this.post<Opened>('/sessions/current/mfa', { challengeId, method: 'totp', code: this.code() })).body)
    return this
  }

  /** Proves themselves for an action. @throws when the service refuses */
  async stepUp(action: string, subject?: { readonly type: string; readonly id: string }): Promise<void> {
    const { challengeId } = (await this.post<{ challengeId: string }>('/step-up/challenges', { action, ...(subject === undefined ? {} : { subject }) })).body
    this.#hold((await this.post<Opened>(`/step-up/challenges/${challengeId}/verify`, { method: 'totp', code: this.code() })).body)
  }

  /** Sends with the browser's cookie in place of the token. */
  browser<Body = unknown>(method: string, path: string, body?: unknown, headers: RawRequest['headers'] = {}): Promise<Reply<Body>> {
    return this.send<Body>(method, path, body, { authorization: undefined, cookie: `theme=dark; __Host-session=${this.token}`, ...headers })
  }
}

/** A name that nothing else has. */
export const unique = (word: string): string => `${word} ${randomUUID()}`
