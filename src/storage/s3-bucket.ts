import type { S3Client } from '@aws-sdk/client-s3'

export interface S3StorageOptions {
  bucket: string
  /**
   * The endpoint of a service other than Amazon's. The bucket's name is then part of the path instead of the
   * host name.
   */
  endpoint: string | undefined
  region: string
  /** The prefix of every key. */
  prefix: string
  /**
   * Set both or neither. If neither is set, the SDK finds credentials itself, such as the role of the
   * machine.
   */
  accessKeyId: string | undefined
  secretAccessKey: string | undefined
  /**
   * The part size of an upload. A smaller image is uploaded in one request. The default is the minimum of S3:
   * 5 MiB.
   */
  partBytes?: number
}

/** A bucket with its client and settings. */
export interface Bucket {
  sdk: typeof import('@aws-sdk/client-s3')
  Upload: typeof import('@aws-sdk/lib-storage').Upload
  client: S3Client
  name: string
  prefix: string
  partBytes: number
}

export async function openBucket(options: S3StorageOptions): Promise<Bucket> {
  const { accessKeyId, secretAccessKey, endpoint } = options
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new Error('only one of S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY is set. Set both or neither')
  }
  const [sdk, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')])
  const client = new sdk.S3Client({
    region: options.region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
    // Many S3-compatible services support no checksum other than Content-MD5.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 5_000,
      requestTimeout: 60_000,
      throwOnRequestTimeout: true,
      socketTimeout: 60_000,
      // Each image that a client is reading holds one connection. With the SDK's default of 50, slow readers
      // would block writers.
      httpAgent: { maxSockets: connectionsMax },
      httpsAgent: { maxSockets: connectionsMax },
    },
  })
  const partBytes = options.partBytes ?? partBytesMin
  return { sdk, Upload, client, name: options.bucket, prefix: options.prefix, partBytes }
}

const connectionsMax = 1000
const partBytesMin = 5 * 1024 * 1024
