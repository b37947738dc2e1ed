import type { S3Client } from '@aws-sdk/client-s3'

export interface S3StorageOptions {
  bucket: string
  /** Of a service other than Amazon's. The bucket's name is then in the path, not in the host name. */
  endpoint: string | undefined
  region: string
  /** Prefixed to every key. */
  prefix: string
  /** Set both or none. None: the SDK finds credentials itself, such as the role of the machine. */
  accessKeyId: string | undefined
  secretAccessKey: string | undefined
  /** Size of the parts of an upload; a smaller image is one request. Default and minimum of S3: 5 MiB. */
  partBytes?: number
}

/** A bucket, and the client and settings for it. */
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
    throw new Error('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together: set both or none')
  }
  const [sdk, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')])
  const client = new sdk.S3Client({
    region: options.region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
    // Many S3-compatible services know no checksum but Content-MD5.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 5_000,
      requestTimeout: 60_000,
      throwOnRequestTimeout: true,
      socketTimeout: 60_000,
      // Each image that a client reads holds one connection: with the SDK's default of 50, slow readers would
      // block writers.
      httpAgent: { maxSockets: connectionsMax },
      httpsAgent: { maxSockets: connectionsMax },
    },
  })
  const partBytes = options.partBytes ?? partBytesMin
  return { sdk, Upload, client, name: options.bucket, prefix: options.prefix, partBytes }
}

const connectionsMax = 1000
const partBytesMin = 5 * 1024 * 1024
