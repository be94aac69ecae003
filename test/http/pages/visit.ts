/** A browser without scripts: it reads pages and sends their forms. */

/** What a page answered. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** The text of the page, without markup. */
  readonly text: string
}

async function seen(answer: Response): Promise<Seen> {
  const html = await answer.text()
  const text = html
    .replaceAll(/<(style|script|head)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] as string)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return { status: answer.status, headers: answer.headers, html, text }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Opens a page. Redirects are not followed. */
export async function open(url: string, headers: Record<string, string> = {}): Promise<Seen> {
  return await seen(await fetch(url, { headers, redirect: 'manual' }))
}

/** Sends a form as a browser does. Redirects are not followed. */
export async function submit(
  url: string,
  fields: Record<string, string> | string = {},
  headers: Record<string, string> = {},
): Promise<Seen> {
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  })
  return await seen(answer)
}

/** The addresses to which the forms of a page are sent. */
export const actionsOf = ({ html }: Seen): string[] =>
  Array.from(html.matchAll(/<form method="post" action="([^"]+)"/g), ([, action]) => action as string)

/** The value that an input of a page shows; null when there is no such input, or it is empty. */
export const valueOf = ({ html }: Seen, name: string): string | null => {
  const input = new RegExp(`<input id="${name}"[^>]*>`).exec(html)?.[0]
  const value = /value="([^"]*)"/.exec(input ?? '')?.[1]
  return value === undefined || value === ''
    ? null
    : value.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, entity: string) => ENTITIES[entity] as string)
}
