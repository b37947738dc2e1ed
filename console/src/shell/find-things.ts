import { ApiError, api, ask, type Schema } from '../api/client.ts'
import type { Area } from '../api/session.ts'
import { ranked } from './ranked.ts'

/** The id of a request, as clients and pages show it. Tenants and keys have ids of the same form. */
export const requestId = /^(?:req_)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i

interface Found {
  id: string
  name: string
  /** What it is: "key of acme". */
  about: string
  to: string
}

/** Of each kind. Typing more letters shows the others. */
const most = 5
/** Read of each kind, to find the best among them. */
const readMost = 50

/**
 * Tenants, keys, channels and models with these words in their names, and tenants and keys with this id, at
 * most a few of each kind, the best first.
 */
export async function findThings(
  words: string,
  may: (area: Area) => boolean,
  signal: AbortSignal,
): Promise<Found[]> {
  const query = { search: words, limit: readMost }
  const [tenants, keys, channels, models, exact] = await Promise.all([
    may('tenants') ? ask(api.GET('/admin/v1/tenants', { params: { query }, signal })) : undefined,
    may('keys') ? ask(api.GET('/admin/v1/keys', { params: { query }, signal })) : undefined,
    may('catalog') ? ask(api.GET('/admin/v1/channels', { params: { query }, signal })) : undefined,
    may('catalog') ? ask(api.GET('/admin/v1/models', { params: { query }, signal })) : undefined,
    findExactly(words, may, signal),
  ])
  const found = [
    (tenants?.data ?? []).map(tenantFound),
    (keys?.data ?? []).map(keyFound),
    (channels?.data ?? []).map(({ id, name }) => ({
      ...{ id, name, about: 'channel', to: `/console/channels/${id}` },
    })),
    (models?.data ?? []).map(({ id }) => ({
      ...{ id, name: id, about: 'model', to: `/console/models/${encodeURIComponent(id)}` },
    })),
  ]
  const best = found.flatMap((ofKind) => ranked(ofKind, words).slice(0, most))
  return [...new Map([...exact, ...best].map((one) => [one.to, one])).values()]
}

/** Tenants and keys by the whole name or id, which a part of the name finds only among the first. */
async function findExactly(
  words: string,
  may: (area: Area) => boolean,
  signal: AbortSignal,
): Promise<Found[]> {
  const isId = requestId.test(words)
  const path = { id: words.toLowerCase() }
  const byName = { params: { query: { name: words, limit: most } }, signal }
  const byId = { params: { path }, signal }
  const [tenants, keys, tenant, key] = await Promise.all([
    may('tenants') && !isId ? ask(api.GET('/admin/v1/tenants', byName)) : undefined,
    may('keys') && !isId ? ask(api.GET('/admin/v1/keys', byName)) : undefined,
    may('tenants') && isId ? orNone(ask(api.GET('/admin/v1/tenants/{id}', byId))) : undefined,
    may('keys') && isId ? orNone(ask(api.GET('/admin/v1/keys/{id}', byId))) : undefined,
  ])
  return [
    ...[...(tenants?.data ?? []), ...(tenant === undefined ? [] : [tenant])].map(tenantFound),
    ...[...(keys?.data ?? []), ...(key === undefined ? [] : [key])].map(keyFound),
  ]
}

function tenantFound({ id, name }: Schema<'Tenant'>): Found {
  return { id, name, about: 'tenant', to: `/console/tenants/${id}` }
}

function keyFound({ id, name, tenant }: Schema<'Key'>): Found {
  return { id, name, about: `key of ${tenant}`, to: `/console/keys/${id}` }
}

async function orNone<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return undefined
    throw error
  }
}
