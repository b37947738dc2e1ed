import { z } from 'zod'
import type { StoredChannel } from '../../catalog/change-entries.ts'
import { credentialNameOf } from '../../routing/credentials.ts'
import { channelEtag, credentialList, credentialsJson } from './channel-json.ts'
import {
  type AdminChannelsContext,
  changeChannel,
  channelPath,
  channelToChange,
  readChannel,
} from './channels.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { conflict, notFound } from './refusals.ts'

const path = '/admin/v1/channels/{id}/credentials'
const onePath = channelPath.extend({ credential: z.string().describe('The id of the credential.') })
const secret = z.string().describe('The secret (write-only). Empty if the upstream needs none.')
const newCredential = z
  .strictObject({
    secret,
    position: z
      .int()
      .min(0)
      .optional()
      .describe('The position in the order of use, starting with 0. Default: the last position.'),
  })
  .meta({ id: 'NewChannelCredential' })
const replacement = z.strictObject({ secret }).meta({ id: 'ChannelCredentialReplacement' })

/** Endpoints for the individual credentials of a channel. */
export function channelCredentialsEndpoints(context: AdminChannelsContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path,
      area: 'catalog',
      summary: 'List the credentials of a channel by their last four characters',
      params: channelPath,
      answer: credentialList,
      async handle({ params: { id } }) {
        const stored = await readChannel(context, id)
        return { body: { data: credentialsJson(stored.credentials ?? []) }, etag: channelEtag(stored) }
      },
    }),
    adminChange({
      method: 'POST',
      path,
      area: 'catalog',
      ifMatch: 'channel',
      summary: 'Add a credential',
      params: channelPath,
      body: newCredential,
      statuses: [201],
      answer: credentialList,
      async change({ tx, params: { id }, body, requireMatch, audit }) {
        const change = await channelToChange(tx, context, id, requireMatch)
        const all = readable(change.stored)
        if (all.includes(body.secret)) throw known()
        const keys = all.toSpliced(body.position ?? all.length, 0, body.secret)
        return { status: 201, ...(await write(change, keys, tx, audit)) }
      },
    }),
    adminChange({
      method: 'PUT',
      path: `${path}/{credential}`,
      area: 'catalog',
      ifMatch: 'channel',
      summary: 'Replace a credential, keeping its position in the order',
      params: onePath,
      body: replacement,
      answer: credentialList,
      async change({ tx, params: { id, credential }, body, requireMatch, audit }) {
        const change = await channelToChange(tx, context, id, requireMatch)
        const all = readable(change.stored)
        const at = placeOf(all, credential)
        if (all.some((one, index) => one === body.secret && index !== at)) throw known()
        return await write(change, all.with(at, body.secret), tx, audit)
      },
    }),
    adminChange({
      method: 'DELETE',
      path: `${path}/{credential}`,
      area: 'catalog',
      ifMatch: 'channel',
      summary: 'Remove a credential',
      params: onePath,
      answer: credentialList,
      async change({ tx, params: { id, credential }, requireMatch, audit }) {
        const change = await channelToChange(tx, context, id, requireMatch)
        const all = readable(change.stored)
        const rest = all.toSpliced(placeOf(all, credential), 1)
        if (rest.length === 0)
          throw conflict(
            'This is the only credential of the channel. Add another one first, or disable the channel.',
          )
        return await write(change, rest, tx, audit)
      },
    }),
  ]

  async function write(
    change: Awaited<ReturnType<typeof channelToChange>>,
    keys: string[],
    tx: Parameters<typeof changeChannel>[0],
    audit: Parameters<typeof changeChannel>[4],
  ): Promise<{ body: z.input<typeof credentialList>; etag: string }> {
    const words = { ...change.stored.words, api_keys: keys }
    const { body, etag } = await changeChannel(tx, context, change, words, audit)
    return { body: { data: body.credentials }, etag }
  }
}

function readable({ credentials, row }: StoredChannel): string[] {
  if (credentials !== undefined) return credentials
  throw conflict(
    `The credentials of channel "${row.name}" were encrypted with another SECRET_KEY. Send all of them again as api_keys.`,
  )
}

function placeOf(all: readonly string[], id: string): number {
  const at = all.findIndex((one) => credentialNameOf(one) === id)
  if (at < 0) throw notFound('credential with this id')
  return at
}

function known() {
  return conflict('secret: the channel already has this credential', 'secret')
}
