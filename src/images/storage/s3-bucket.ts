import type { S3Client } from '@aws-sdk/client-s3'

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
