// Runs before the page is drawn, so that the wrong theme never flashes.
(() => {
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  let theme = "auto";
  try {
    theme = localStorage.getItem("theme") ?? theme;
  } catch {
    // Storage is disabled: the choice lasts until the page is closed.
  }

  const show = () => {
    root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) button.textContent = `Theme: ${theme}`;
  };

  show();
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme").addEventListener("click", () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      try {
        localStorage.setItem("theme", theme);
      } catch {
        // Storage is disabled.
      }
      show();
    });
  });
})();
