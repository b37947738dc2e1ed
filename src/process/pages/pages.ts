import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { cutWhenStalled } from '../../http/stalled-client.ts'
import type { Log } from '../../telemetry/log.ts'
import { buildPages, whyNotBuilt } from './build.ts'
import { Built } from './built.ts'
import { fileHeaders, makeNonce, pageHeaders } from './headers.ts'
import { askAgainSeconds, notBuiltPage } from './not-built.ts'
import { readSite, siteHtml } from './site.ts'

/** Responds to requests for a page or one of its files, and calls `next` for all others. */
export type PagesHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (cause?: unknown) => void,
) => void

export interface Pages {
  /** `hasModel` returns whether `/models` has a page for a model. */
  answer(hasModel: HasModel): PagesHandler
  /**
   * Builds the pages, unless they are as new as their sources. Calls `print` with a line before and after the
   * build. Never rejects.
   */
  build(print: (line: string) => void): Promise<void>
}

const ownRoot = join(import.meta.dirname, '../../..')

/**
 * Opens the pages for people: the console, the home page, the models and the documents. Undefined if all of
 * them are off. Throws an Error for the operator. `root` is the checkout whose console/dist is served.
 */
export function openPages(config: Config, log: Log, root: string = ownRoot): Pages | undefined {
  if (config.pages.length === 0) return undefined
  const site = readSite(config)
  const stallMs = config.bounds.clientStallMs
  const built = new Built(join(root, 'console/dist'), stallMs)
  let failure: string | undefined

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    hasModel: HasModel,
  ): Promise<boolean> {
    const path = pathOf(request)
    if (path === undefined) return false
    if (path === '/site/icon') return sendImage(response, site.logo ?? { bytes: icon, type: 'image/svg+xml' })
    if (path === '/site/logo' && site.logo !== undefined) return sendImage(response, site.logo)
    const page = pageAt(path)
    if (page !== undefined && !site.pages.includes(page)) {
      if (path !== '/' || !site.pages.includes('console')) return await sendNotFound(request, response, path)
      response.writeHead(302, { location: '/console', 'cache-control': 'no-cache' }).end()
      return true
    }
    if (path !== '/' && (await built.answer(path, request, response))) return true
    if (page === undefined) return await sendNotFound(request, response, path)
    if (!asksForPage(request)) return false
    const template = await built.template()
    const nonce = makeNonce()
    if (template === undefined) sendPage(response, 503, nonce, notBuilt(nonce))
    else if (await isThere(path, { hasModel, hasFile: (name) => built.has(name) }))
      sendPage(response, 200, nonce, siteHtml(template, site, nonce))
    else sendPage(response, 404, nonce, siteHtml(template, site, nonce, noSuchPage))
    return true
  }

  /**
   * Shows a browser a page with links to the others. All other clients get the API's error with its advice,
   * and so does a browser below the API's paths.
   */
  async function sendNotFound(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<boolean> {
    if (isOfApi(path) || !asksForPage(request) || !/text\/html/.test(request.headers.accept ?? ''))
      return false
    const template = await built.template()
    const nonce = makeNonce()
    const html = template === undefined ? notBuilt(nonce) : siteHtml(template, site, nonce, noSuchPage)
    sendPage(response, 404, nonce, html)
    return true
  }

  const notBuilt = (nonce: string) => notBuiltPage(site, failure ?? whyNotBuilt(root), nonce)

  function sendPage(response: ServerResponse, status: 200 | 404 | 503, nonce: string, html: string): void {
    const bytes = Buffer.from(html)
    // Links to images use the public address.
    const headers = pageHeaders(nonce, site.url === undefined ? [] : [new URL(site.url).origin])
    if (status === 503) {
      headers['retry-after'] = String(askAgainSeconds)
      headers['cache-control'] = 'no-store'
      // Only one of several processes builds and knows about a failure. A new connection may reach that
      // process.
      headers.connection = 'close'
    }
    response.writeHead(status, { ...headers, 'content-length': bytes.length })
    response.end(bytes)
    cutWhenStalled(response, stallMs)
  }

  function sendImage(response: ServerResponse, { bytes, type }: { bytes: Buffer; type: string }): true {
    response.writeHead(200, {
      ...fileHeaders,
      'content-type': type,
      'content-length': bytes.length,
      'cache-control': 'no-cache',
    })
    response.end(bytes)
    cutWhenStalled(response, stallMs)
    return true
  }

  return {
    answer: (hasModel) => (request, response, next) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') next()
      else answer(request, response, hasModel).then((isAnswered) => isAnswered || next(), next)
    },
    async build(print) {
      try {
        const begin = () =>
          print('Building the pages, which takes a few seconds. The API is already available.')
        const seconds = await buildPages(root, begin)
        if (seconds !== undefined) print(`The pages were built in ${seconds.toFixed(1)} s.`)
      } catch (cause) {
        failure = cause instanceof Error ? cause.message : String(cause)
        log.warn({ cause: failure }, 'the pages cannot be built; the API works without them')
      }
    },
  }
}

/** Returns the path without escapes, or undefined if one of them is invalid. */
function pathOf({ url = '' }: IncomingMessage): string | undefined {
  try {
    return decodeURI(url.replace(/\?.*$/s, ''))
  } catch {
    return undefined
  }
}

const noSuchPage = 'No such page'

function isOfApi(path: string): boolean {
  return /^\/(v1|admin|public|openapi\.json|healthz?|readyz)(\/|$)/i.test(path)
}

/** Returns the page that has this path, whether it is on or off. */
function pageAt(path: string): Config['pages'][number] | undefined {
  if (path === '/') return 'home'
  const [, first] = /^\/(console|models|docs)(?:\/|$)/.exec(path) ?? []
  return first as 'console' | 'models' | 'docs' | undefined
}

/**
 * An SDK whose base URL lacks the /v1 requests /models too. It sends a key or accepts only JSON, and gets the
 * error that says what to change.
 */
function asksForPage({ headers }: IncomingMessage): boolean {
  if (headers['x-api-key'] !== undefined || /^bearer /i.test(headers.authorization ?? '')) return false
  return headers.accept === undefined || /text\/html|\*\/\*/.test(headers.accept)
}

/** Returns whether a public group has a model with this id or alias. */
export type HasModel = (id: string) => Promise<boolean>

/**
 * The pages of the console, as in `console/src/console-routes.tsx`. Those in the second list also have a page
 * for each row.
 */
const alone = [
  'sign-in',
  'link',
  'conversation',
  'playground',
  'users',
  'import',
  'set-up',
  'ledger',
  'prices',
  'settings',
  'account',
]
const withRows = ['log', 'jobs', 'alerts', 'audit', 'tenants', 'keys', 'groups', 'channels', 'models']

const consolePath = new RegExp(
  `^/console(?:/(?:${[...alone, ...withRows].join('|')})|/(?:${withRows.join('|')})/[^/]+)?/?$`,
)

/**
 * Returns whether there is a page at this path below `/console`, `/models` or `/docs`. The page itself
 * reports if what it shows is missing, such as a key. A model counts as existing if the catalog cannot
 * currently be read.
 */
async function isThere(
  path: string,
  { hasModel, hasFile }: { hasModel: HasModel; hasFile(name: string): Promise<boolean> },
): Promise<boolean> {
  const [, first, rest = ''] = /^\/(console|models|docs)\/*(.*?)\/*$/s.exec(path) ?? []
  if (first === 'console') return consolePath.test(path)
  if (rest === '') return true
  if (first === 'models') return await hasModel(unescaped(rest)).catch(() => true)
  // The pages of the endpoints are generated from /openapi.json.
  if (/^api(\/[^/]+)?$/.test(rest)) return true
  if (/(^|\/)README$/.test(rest)) return false
  return (await hasFile(`docs/${rest}.md`)) || (await hasFile(`docs/${rest}/README.md`))
}

/** `decodeURI` leaves `%2F` and `%3A`, which a model id may contain. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The icon of the pages if the operator has not set a logo: a gate with its bar down. */
const icon = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    '<rect width="32" height="32" rx="6" fill="#0b7370"/>' +
    '<path d="M9 25V8M9 12h15M9 18h15" stroke="#fff" stroke-width="3.5" stroke-linecap="round" fill="none"/>' +
    '</svg>',
)
