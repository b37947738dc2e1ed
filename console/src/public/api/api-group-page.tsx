export function ApiGroupPage() {
  return null
}
