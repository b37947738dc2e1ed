import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { adopt } from '../../runtime/confine.ts'
import { openBucket, type S3StorageOptions } from '../../storage/s3-bucket.ts'
import { type ArchiveStore, MissingFileError } from './store.ts'

/**
 * The archive as objects in a bucket. It needs s3:PutObject, GetObject, DeleteObject and
 * AbortMultipartUpload.
 */
export async function s3Store(options: S3StorageOptions): Promise<ArchiveStore> {
  const { sdk, Upload, client, name: bucket, prefix, partBytes } = await openBucket(options)
  const objectOf = (name: string) => ({ Bucket: bucket, Key: prefix + name })
  return {
    async put(name, path) {
      const params = {
        ...objectOf(name),
        Body: adopt(createReadStream(path)),
        ContentType: 'application/vnd.apache.parquet',
      }
      await new Upload({ client, params, partSize: partBytes, queueSize: 1 }).done()
    },
    async fetch(name, path, signal) {
      try {
        const { Body: body } = await client.send(
          new sdk.GetObjectCommand(objectOf(name)),
          signal === undefined ? {} : { abortSignal: signal },
        )
        if (!(body instanceof Readable))
          throw new Error(`the bucket ${bucket} returned no content for ${name}`)
        await pipeline(body, adopt(createWriteStream(path)), signal === undefined ? {} : { signal })
      } catch (error) {
        if (error instanceof sdk.NoSuchKey)
          throw new MissingFileError(`the bucket ${bucket} does not contain ${prefix}${name}`, {
            cause: error,
          })
        throw error
      }
    },
    pathOf: () => undefined,
    async remove(name) {
      await client.send(new sdk.DeleteObjectCommand(objectOf(name)))
    },
    close: () => client.destroy(),
  }
}
