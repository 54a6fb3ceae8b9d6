/** Makes every page that services of this process keep too old to be used. */
export function agePages(): void {
  const now = performance.now.bind(performance);
  performance.now = () => now() + 121_000;
}
