import { randomUUID } from 'node:crypto'
import { type Finding, findingsOf, messagesIn } from '../canonical/finding.ts'
import { networkFailure } from '../canonical/network-failure.ts'
import type { Config } from '../config/config.ts'
import type { Bucket } from './s3-bucket.ts'

const { well, warning, wrong } = findingsOf('storage')
const docs = 'docs/reference/deployment.md#images'

/** Checks the buckets: lists one object, and writes, reads and deletes an object of a few bytes. */
export async function checkBuckets(config: Config): Promise<Finding[]> {
  const { s3Bucket, archiveS3Bucket, s3Prefix, archiveS3Prefix, bounds } = config
  const archives = bounds.hotDays > 0 || archiveS3Bucket !== undefined
  const archive = !archives || config.archiveDir !== undefined ? undefined : (archiveS3Bucket ?? s3Bucket)
  const wanted = [
    ...(s3Bucket === undefined ? [] : [{ name: s3Bucket, prefix: s3Prefix, what: 'images and files' }]),
    ...(archive === undefined ? [] : [{ name: archive, prefix: archiveS3Prefix, what: 'archived days' }]),
  ]
  if (wanted.length === 0) return [well('storage.files', 'images and files are kept in DATA_DIR')]
  return (await Promise.all(wanted.map((one) => checkBucket(one, config)))).flat()
}

async function checkBucket(
  wanted: { name: string; prefix: string; what: string },
  config: Config,
): Promise<Finding[]> {
  const { name, prefix, what } = wanted
  const {
    s3Endpoint: endpoint,
    s3Region: region,
    s3AccessKeyId: accessKeyId,
    s3SecretAccessKey: secretAccessKey,
  } = config
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    return [
      wrong('storage.half_credential', 'only one of S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY is set', {
        fix: 'Set both or neither.',
        docs,
      }),
    ]
  const { openBucket } = await import('./s3-bucket.ts')
  const bucket = await openBucket({
    bucket: name,
    endpoint,
    region,
    prefix,
    accessKeyId,
    secretAccessKey,
  })
  const clock = watchClock(bucket)
  try {
    const { sdk, client } = bucket
    const asked = new sdk.ListObjectsV2Command({ Bucket: name, Prefix: prefix, MaxKeys: 1 })
    await client.send(asked, { abortSignal: AbortSignal.timeout(answerMs) })
  } catch (error) {
    bucket.client.destroy()
    const place = endpoint ?? `https://s3.${region}.amazonaws.com`
    return [unusable(error, name, place), ...clockFindings(clock.apartMs(), name)]
  }
  const failed = await tryObject(bucket)
  bucket.client.destroy()
  const usable = `the bucket ${name} can be listed, and objects in it can be written, read and deleted, for ${what}`
  return [failed ?? well('storage.bucket', usable), ...clockFindings(clock.apartMs(), name)]
}

const answerMs = 8_000

/** Writes, reads and deletes an object. Returns undefined if all three succeed. */
async function tryObject({ sdk, client, name, prefix }: Bucket): Promise<Finding | undefined> {
  const place = { Bucket: name, Key: `${prefix}tollgate-doctor-${randomUUID()}` }
  const within = () => ({ abortSignal: AbortSignal.timeout(answerMs) })
  const steps = {
    write: () => client.send(new sdk.PutObjectCommand({ ...place, Body: 'tollgate doctor' }), within()),
    read: async () => {
      const { Body } = await client.send(new sdk.GetObjectCommand(place), within())
      await Body?.transformToString()
    },
    delete: () => client.send(new sdk.DeleteObjectCommand(place), within()),
  }
  let failed: Finding | undefined
  for (const [step, run] of Object.entries(steps)) {
    try {
      await run()
    } catch (error) {
      const left = step === 'delete' ? ` The object ${place.Key} was left in the bucket.` : ''
      failed ??= wrong(`storage.${step}`, `objects in the bucket ${name} cannot be ${done[step] ?? step}`, {
        why: `${nameOf(error)}: ${messagesIn(error)}.${left}`,
        fix: `Grant the credentials ${rights} on ${name}/${prefix}*.`,
        docs,
      })
      if (step !== 'write') continue
      // There is nothing to read, but a write whose response came too late may have left an object.
      await steps.delete().catch(() => {})
      break
    }
  }
  return failed
}

const done: Readonly<Record<string, string>> = { write: 'written', read: 'read', delete: 'deleted' }
const rights = 's3:PutObject, s3:GetObject, s3:DeleteObject and s3:AbortMultipartUpload'

/**
 * Compares the time in each response with the local clock. After a refusal the SDK corrects its own clock
 * without reporting it.
 */
function watchClock({ client }: Bucket): { apartMs(): number | undefined } {
  let apartMs: number | undefined
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const { response } = result
      if (typeof response !== 'object' || response === null || !('headers' in response)) return result
      const { headers } = response
      if (typeof headers !== 'object' || headers === null || !('date' in headers)) return result
      const at = Date.parse(String(headers.date))
      if (!Number.isNaN(at)) apartMs ??= at - Date.now()
      return result
    },
    { step: 'deserialize', priority: 'low' },
  )
  return { apartMs: () => apartMs }
}

/** S3 rejects requests whose time differs by 15 minutes. The times in responses are in whole seconds. */
const apartMost = { warning: 30_000, wrong: 15 * 60_000 }

function clockFindings(apartMs: number | undefined, name: string): Finding[] {
  if (apartMs === undefined || Math.abs(apartMs) < apartMost.warning) return []
  const seconds = Math.round(Math.abs(apartMs) / 1000)
  const what = `the clock of the bucket ${name} is ${seconds} s ${apartMs > 0 ? 'ahead of' : 'behind'} that of this machine`
  const advice = {
    why: 'Requests are signed with the time of this machine. S3 rejects them when it is off by 15 minutes.',
    fix: 'Synchronise this machine with NTP.',
    run: 'timedatectl set-ntp true',
    docs: 'docs/reference/failures.md#when-something-is-down',
  }
  const judge = Math.abs(apartMs) < apartMost.wrong ? warning : wrong
  return [judge('storage.clock', what, advice)]
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '')

function unusable(error: unknown, bucket: string, endpoint: string): Finding {
  const { host, protocol } = new URL(endpoint)
  const place = /:\d+$/.test(host) ? host : `${host}:${protocol === 'https:' ? 443 : 80}`
  const failure = networkFailure(error, place)
  if (failure !== undefined) {
    const { kind, ...advice } = failure
    return wrong(`storage.${kind}`, `the bucket ${bucket} cannot be reached`, { ...advice, docs })
  }
  const name = nameOf(error)
  const isMissing = name === 'NoSuchBucket' || name === 'NotFound'
  const isForbidden =
    /^(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|CredentialsProviderError|Forbidden|403)$/.test(
      name,
    )
  const code = isMissing ? 'storage.missing' : isForbidden ? 'storage.refused' : 'storage.unusable'
  const what = isMissing
    ? `the bucket ${bucket} does not exist`
    : isForbidden
      ? `the bucket ${bucket} denies access`
      : `the bucket ${bucket} cannot be used`
  return wrong(code, what, {
    why: `${name}: ${messagesIn(error)}`,
    fix: isMissing
      ? 'Correct S3_BUCKET and S3_REGION, or create the bucket.'
      : 'Correct S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, or grant the role s3:ListBucket and the other permissions.',
    docs,
  })
}
