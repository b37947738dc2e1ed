import type { Config } from '../config.ts'
import { type Finding, findingsOf, wordsOf } from './finding.ts'
import { networkFailure } from './network-failure.ts'

const { well, wrong } = findingsOf('storage')
const docs = 'docs/reference/deployment.md#images'

/** The buckets. It lists one name: what may be written there is not tried, because that would change something. */
export async function checkStorage(config: Config): Promise<Finding[]> {
  const { s3Bucket, archiveS3Bucket, s3Prefix, archiveS3Prefix, bounds } = config
  const archive =
    bounds.archiveDays === 0 || config.archiveDir !== undefined ? undefined : (archiveS3Bucket ?? s3Bucket)
  const wanted = [
    ...(s3Bucket === undefined ? [] : [{ name: s3Bucket, prefix: s3Prefix, what: 'images and files' }]),
    ...(archive === undefined ? [] : [{ name: archive, prefix: archiveS3Prefix, what: 'archived days' }]),
  ]
  if (wanted.length === 0) return [well('storage.files', 'images and files are kept in DATA_DIR')]
  return await Promise.all(wanted.map((one) => checkBucket(one, config)))
}

async function checkBucket(
  wanted: { name: string; prefix: string; what: string },
  config: Config,
): Promise<Finding> {
  const { name, prefix, what } = wanted
  const {
    s3Endpoint: endpoint,
    s3Region: region,
    s3AccessKeyId: accessKeyId,
    s3SecretAccessKey: secretAccessKey,
  } = config
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    return wrong('storage.half_credential', 'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together', {
      fix: 'Set both or none.',
      docs,
    })
  const { openBucket } = await import('../images/storage/s3-bucket.ts')
  const { sdk, client } = await openBucket({
    bucket: name,
    endpoint,
    region,
    prefix,
    accessKeyId,
    secretAccessKey,
  })
  try {
    const asked = new sdk.ListObjectsV2Command({ Bucket: name, Prefix: prefix, MaxKeys: 1 })
    await client.send(asked, { abortSignal: AbortSignal.timeout(answerMs) })
    return well('storage.bucket', `the bucket ${name} can be listed, for ${what}; writing was not tried`)
  } catch (error) {
    return unusable(error, name, endpoint ?? `https://s3.${region}.amazonaws.com`)
  } finally {
    client.destroy()
  }
}

const answerMs = 10_000

function unusable(error: unknown, bucket: string, endpoint: string): Finding {
  const { host, protocol } = new URL(endpoint)
  const place = /:\d+$/.test(host) ? host : `${host}:${protocol === 'https:' ? 443 : 80}`
  const failure = networkFailure(error, place)
  if (failure !== undefined) {
    const { kind, ...advice } = failure
    return wrong(`storage.${kind}`, `the bucket ${bucket} cannot be reached`, { ...advice, docs })
  }
  const name = error instanceof Error ? error.name : ''
  const isMissing = name === 'NoSuchBucket' || name === 'NotFound'
  const isForbidden =
    /^(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|CredentialsProviderError|Forbidden|403)$/.test(
      name,
    )
  const code = isMissing ? 'storage.missing' : isForbidden ? 'storage.refused' : 'storage.unusable'
  const what = isMissing
    ? `there is no bucket ${bucket}`
    : isForbidden
      ? `the bucket ${bucket} refuses us`
      : `the bucket ${bucket} cannot be used`
  return wrong(code, what, {
    why: `${name}: ${wordsOf(error)}`,
    fix: isMissing
      ? 'Correct S3_BUCKET and S3_REGION, or make the bucket.'
      : 'Correct S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, or give the role s3:ListBucket and the other rights.',
    docs,
  })
}
