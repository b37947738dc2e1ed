import { randomBytes } from 'node:crypto'
import { GatewayError } from '../canonical/error.ts'
import { type Finding, findingsOf, inShell, messagesIn } from '../canonical/finding.ts'
import { networkFailure } from '../canonical/network-failure.ts'
import { awsScopeOf } from '../catalog/aws-credentials.ts'
import { buildSnapshot } from '../catalog/build-snapshot.ts'
import { demoBaseUrl } from '../catalog/demo.ts'
import type { GatewayFile } from '../catalog/gateway-file.ts'
import { readCatalogRows } from '../catalog/queries.ts'
import type { Channel } from '../catalog/snapshot.ts'
import { fromDatabase } from '../catalog/stored-rows.ts'
import { channelOf } from '../catalog/unsaved-channel.ts'
import type { Config } from '../config/config.ts'
import type { Connections } from '../db/connections.ts'
import { ChannelLoad } from '../routing/channel-load.ts'
import { Bulkhead, inTurn } from '../runtime/bulkhead.ts'
import { systemClock } from '../runtime/clock.ts'
import { readKeeper } from '../secrets/open-masters.ts'
import { presentKeys } from '../secrets/present-keys.ts'
import { SecretKeeper } from '../secrets/secret-key.ts'
import { refusedBaseUrls } from './allowed-addresses.ts'
import { AwsIdentities } from './aws/identities.ts'
import { sdkSource } from './aws/sdk-source.ts'
import { askList, hasNoList } from './model-lists/ask-list.ts'
import { signersWith } from './signers.ts'
import { Upstreams } from './upstreams.ts'

const { well, skipped, warning, wrong } = findingsOf('channels')

const atOnce = 8
/** The maximum number of credentials to check per channel. */
const credentialsMost = 10
const channelsMost = 100
const bounds = { modelListMs: 8_000, modelListBytesMax: 8 * 1024 * 1024, modelListNamesMax: 100_000 }

/**
 * Requests the list of models from each channel with each of its credentials, because that call costs
 * nothing.
 */
export async function checkChannels(
  config: Config,
  file: GatewayFile | undefined,
  signal: AbortSignal,
): Promise<Finding[]> {
  const channels = await channelsOf(config, file)
  if (channels === undefined)
    return [
      skipped(
        'channels.unread',
        'the channels could not be read; see the findings about gateway.yaml and the database',
      ),
    ]
  const real = channels.filter(({ protocols }) => !Object.values(protocols).includes(demoBaseUrl))
  if (real.length === 0) return [well('channels.none', 'there are no channels other than the demo')]
  const identities = new AwsIdentities(sdkSource, systemClock)
  const upstreams = new Upstreams(
    { ...config.bounds, upstreamConnectMs: 5_000 },
    new ChannelLoad(atOnce),
    new Map(),
    undefined,
    { signerOf: signersWith(identities, systemClock) },
  )
  try {
    const turns = new Bulkhead({ running: atOnce })
    const asked = await Promise.all(
      real
        .slice(0, channelsMost)
        .map((channel) => inTurn(turns, () => checkChannel({ upstreams, identities }, channel, signal))),
    )
    const left = real.length - channelsMost
    return [
      ...asked.flat(),
      ...(left > 0 ? [skipped('channels.many', `${left} more channels were not checked`)] : []),
    ]
  } finally {
    await upstreams.destroy()
  }
}

/** Returns the channels of the file, or else those of the database. Undefined if they cannot be read. */
async function channelsOf(config: Config, file: GatewayFile | undefined): Promise<Channel[] | undefined> {
  if (file !== undefined) {
    const keeper = new SecretKeeper(randomBytes(32).toString('hex'))
    return file.channels.map((entry) => channelOf(entry, keeper))
  }
  if (config.gatewayConfig !== undefined) return undefined
  const keys = presentKeys(config)
  if (keys === undefined) return undefined
  return await fromDatabase(config, (connections) => readChannels(connections, keys))
}

async function readChannels({ db, sql }: Connections, keys: Parameters<typeof readKeeper>[1]) {
  const keeper = await readKeeper(sql, keys)
  const { channels } = buildSnapshot(await readCatalogRows(db), keeper, () => {})
  return [...channels.values()]
}

interface Means {
  upstreams: Upstreams
  identities: AwsIdentities
}

async function checkChannel(
  { upstreams, identities }: Means,
  channel: Channel,
  signal: AbortSignal,
): Promise<Finding[]> {
  const [refused] = refusedBaseUrls([channel])
  if (refused !== undefined) return [privateAddress(channel, refused)]
  const findings: Finding[] = []
  for (let turn = 0; turn < Math.min(channel.credentials.length, credentialsMost); turn++) {
    try {
      const identity = await identityFinding(identities, channel, { turn, signal })
      if (identity !== undefined) findings.push(identity)
      if (identity?.verdict === 'wrong') continue
      const { models } = await askList(upstreams, bounds, channel, { turn, signal })
      findings.push(
        well('channels.answers', `${channel.name} lists ${models.size} models${ordinal(channel, turn)}`),
      )
    } catch (error) {
      const { finding, isOfPlace } = failureOf(error, channel, turn)
      findings.push(finding)
      // The other credentials would fail at the same address.
      if (isOfPlace) break
    }
  }
  return findings
}

/** Who signs the requests of a channel; undefined if nobody does. */
async function identityFinding(
  identities: AwsIdentities,
  channel: Channel,
  { turn, signal }: { turn: number; signal: AbortSignal },
): Promise<Finding | undefined> {
  const { name, connection, credentials } = channel
  const auth = connection?.auth
  const scope = auth?.kind === 'sigv4' ? awsScopeOf(auth, firstUrl(channel)) : undefined
  if (auth === undefined || scope === undefined) return undefined
  const where = ordinal(channel, turn)
  try {
    const key = await identities.of(credentials[turn] ?? '', auth, scope.region, { signal })
    const origin = 'origin' in key ? `of ${key.origin}` : 'in api_keys'
    const what = `${name} signs for ${scope.service} in ${scope.region} with the key ${key.accessKeyId} ${origin}${where}`
    return well('channels.identity', what)
  } catch (error) {
    return wrong('channels.identity', `${name} has no identity to sign with${where}`, {
      why: messagesIn(error),
      fix:
        auth.roleArn === undefined
          ? `Give this machine an identity of Amazon, or put a key into api_keys of ${name}.`
          : `Let the trust policy of the role ${auth.roleArn} name the identity that assumes it.`,
      docs: 'docs/reference/models.md#amazon-bedrock',
    })
  }
}

function ordinal({ credentials }: Channel, turn: number): string {
  return credentials.length === 1 ? '' : `, with credential ${turn + 1} of ${credentials.length}`
}

function privateAddress({ name }: Channel, why: string): Finding {
  return wrong('channels.private_address', `${name}: the address of the channel is not allowed`, {
    why,
    fix: `Set allow_private_address for ${name} to true or to the blocks that it is allowed to call.`,
    docs: 'docs/reference/deployment.md#upstreams',
  })
}

function failureOf(error: unknown, channel: Channel, turn: number): { finding: Finding; isOfPlace: boolean } {
  const { name } = channel
  const words = messagesIn(error)
  if (error instanceof GatewayError && error.upstreamStatus !== undefined)
    return answered(error, error.upstreamStatus, channel, turn)
  if (words.includes('upstream address refused'))
    return { finding: privateAddress(channel, words), isOfPlace: true }
  const failure = networkFailure(error, placeOf(channel))
  if (failure === undefined) {
    const late = error instanceof GatewayError && error.kind === 'upstream_timeout'
    const advice = {
      why: words,
      run: `curl -v ${inShell(firstUrl(channel))}`,
      docs: 'docs/runbook.md#a-channel-fails',
    }
    const finding = late
      ? wrong('channels.silent', `${name} does not respond in time`, advice)
      : warning('channels.strange', `${name} did not return a list of models`, advice)
    return { finding, isOfPlace: true }
  }
  const { kind, ...advice } = failure
  const docs =
    kind === 'tls' ? 'docs/reference/deployment.md#an-egress-proxy' : 'docs/runbook.md#a-channel-fails'
  return {
    finding: wrong(`channels.${kind}`, `${name} cannot be reached`, { ...advice, docs }),
    isOfPlace: true,
  }
}

function answered(
  error: GatewayError,
  status: number,
  channel: Channel,
  turn: number,
): { finding: Finding; isOfPlace: boolean } {
  const { name } = channel
  const said = typeof error.details?.said === 'string' ? ` The upstream's message: ${error.details.said}` : ''
  if (status === 401 || status === 403)
    return {
      finding: wrong('channels.credential', `${name} rejects its credential${ordinal(channel, turn)}`, {
        why: `The request for the list of models failed with status ${status}.${said}`,
        fix: /Signature (expired|not yet current)/.test(said)
          ? 'Set the clock of this machine: the vendor refuses a signature that is five minutes off. Then run:'
          : `Put a valid credential into api_keys of ${name}, then run:`,
        run: `tollgate probe ${inShell(name)} MODEL`,
        docs: 'docs/runbook.md#an-upstream-refuses-a-credential',
      }),
      isOfPlace: false,
    }
  if (hasNoList(error)) {
    const what = `${name} responds, but has no list of models, so its credential was not checked`
    return { finding: well('channels.no_list', what), isOfPlace: true }
  }
  const finding = warning('channels.status', `${name} responds with status ${status}`, {
    why: said.trim() || error.message,
    run: `tollgate probe ${inShell(name)} MODEL`,
    docs: 'docs/runbook.md#a-channel-fails',
  })
  return { finding, isOfPlace: true }
}

function firstUrl({ protocols }: Channel): string {
  return Object.values(protocols)[0] ?? ''
}

/** The host and port to which the connection is made: those of the proxy, if there is one. */
function placeOf(channel: Channel): string {
  const proxy = channel.connection?.proxy
  if (proxy !== undefined) return `${proxy.hostname}:${proxy.port}`
  const { hostname, port, protocol } = new URL(firstUrl(channel))
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}
