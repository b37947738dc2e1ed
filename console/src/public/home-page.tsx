export function HomePage() {
  return <main>…</main>
}
