import { Readable } from 'node:stream'
import { isKey, newKey } from './key.ts'
import { type Bucket, openBucket, type S3StorageOptions } from './s3-bucket.ts'
import { removeObjectsBefore } from './s3-retention.ts'
import { S3Writer } from './s3-writer.ts'
import type { ImageStorage, StoredImage } from './storage.ts'

/**
 * Stores images in an S3 bucket: `<prefix>YYYY-MM-DD/<32 hex digits>`. Requires s3:PutObject, GetObject,
 * DeleteObject, AbortMultipartUpload, ListBucket and ListBucketMultipartUploads. Loads the SDK, which file
 * storage does not need.
 */
export async function s3Storage(options: S3StorageOptions): Promise<ImageStorage> {
  const bucket = await openBucket(options)
  return {
    isShared: true,
    create: () => new S3Writer(bucket, newKey(new Date())),
    open: async (key) => (isKey(key) ? await openStored(bucket, key) : undefined),
    remove: async (key) => {
      const { sdk, client, name, prefix } = bucket
      if (isKey(key)) await client.send(new sdk.DeleteObjectCommand({ Bucket: name, Key: prefix + key }))
    },
    removeBefore: (moment) => removeObjectsBefore(bucket, moment),
    check: () => check(bucket),
    close: async () => bucket.client.destroy(),
  }
}

async function openStored(bucket: Bucket, key: string): Promise<StoredImage | undefined> {
  const { sdk, client } = bucket
  try {
    const object = await client.send(
      new sdk.GetObjectCommand({ Bucket: bucket.name, Key: bucket.prefix + key }),
    )
    if (object.ContentLength === undefined || !(object.Body instanceof Readable)) {
      throw new Error(`The bucket ${bucket.name} returned no length or no bytes for ${key}`)
    }
    return { bytes: object.ContentLength, stream: object.Body }
  } catch (error) {
    // Only a missing key counts. A missing bucket is a 404 too, but that is an error for the operator.
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
    throw new Error(`Images cannot be stored in the bucket ${name}: ${why}`, { cause })
  }
}
