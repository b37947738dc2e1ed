export async function startDemoUpstream(): Promise<{ url: string; close(): Promise<void> }> {
  return { url: 'http://127.0.0.1:1', async close() {} }
}
