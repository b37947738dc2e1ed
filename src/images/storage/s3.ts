import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { isKey, newKey } from './key.ts'
import { removeObjectsBefore } from './s3-retention.ts'
import { S3Writer } from './s3-writer.ts'
import type { ImageStorage, StoredImage } from './storage.ts'

export interface S3StorageOptions {
  bucket: string
  /** Of a service other than Amazon's; buckets are then in the path, not in the host's name. */
  endpoint: string | undefined
  region: string
  /** Before every key. */
  prefix: string
  /** Both or none. None: whatever the SDK finds by itself, such as the machine's role. */
  accessKeyId: string | undefined
  secretAccessKey: string | undefined
  /** Of an upload in parts; smaller images are uploaded at once. Default, and the least S3 takes: 5 MiB. */
  partBytes?: number
}

/** A bucket and what speaks to it. */
export interface Bucket {
  sdk: typeof import('@aws-sdk/client-s3')
  Upload: typeof import('@aws-sdk/lib-storage').Upload
  client: S3Client
  name: string
  prefix: string
  partBytes: number
}

/**
 * Images in an S3 bucket: `<prefix>YYYY-MM-DD/<32 hex digits>`. It needs s3:PutObject, GetObject, DeleteObject,
 * AbortMultipartUpload, ListBucket and ListBucketMultipartUploads. The SDK is loaded here: who has files never does.
 */
export async function s3Storage(options: S3StorageOptions): Promise<ImageStorage> {
  const bucket = await openBucket(options)
  return {
    create: () => new S3Writer(bucket, newKey(new Date())),
    open: async (key) => (isKey(key) ? await openStored(bucket, key) : undefined),
    removeBefore: (moment) => removeObjectsBefore(bucket, moment),
    check: () => check(bucket),
    close: async () => bucket.client.destroy(),
  }
}

async function openBucket(options: S3StorageOptions): Promise<Bucket> {
  const { accessKeyId, secretAccessKey, endpoint } = options
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new Error('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together: set both or none')
  }
  const [sdk, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')])
  const client = new sdk.S3Client({
    region: options.region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
    // Many services that speak S3 know no checksums but Content-MD5.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 5_000,
      requestTimeout: 60_000,
      throwOnRequestTimeout: true,
      socketTimeout: 60_000,
      // Every image that is being read holds one: the SDK's 50 would let slow readers keep the writers out.
      httpAgent: { maxSockets: connectionsMax },
      httpsAgent: { maxSockets: connectionsMax },
    },
  })
  const partBytes = options.partBytes ?? partBytesMin
  return { sdk, Upload, client, name: options.bucket, prefix: options.prefix, partBytes }
}

const connectionsMax = 1000
const partBytesMin = 5 * 1024 * 1024

async function openStored(bucket: Bucket, key: string): Promise<StoredImage | undefined> {
  const { sdk, client } = bucket
  try {
    const object = await client.send(
      new sdk.GetObjectCommand({ Bucket: bucket.name, Key: bucket.prefix + key }),
    )
    if (object.ContentLength === undefined || !(object.Body instanceof Readable)) {
      throw new Error(`The bucket ${bucket.name} answered without a length or without bytes for ${key}`)
    }
    return { bytes: object.ContentLength, stream: object.Body }
  } catch (error) {
    // A bucket that is not there is a 404 too, but nothing that a reader could be told.
    if (error instanceof sdk.NoSuchKey) return undefined
    throw error
  }
}

async function check({ sdk, client, name, prefix }: Bucket): Promise<void> {
  const probe = { Bucket: name, Key: `${prefix}.check` }
  try {
    await client.send(new sdk.PutObjectCommand({ ...probe, Body: 'x' }))
    await client.send(new sdk.DeleteObjectCommand(probe))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Images cannot be kept in the bucket ${name}: ${why}`, { cause })
  }
}
