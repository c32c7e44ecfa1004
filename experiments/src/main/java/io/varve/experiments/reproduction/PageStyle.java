package io.varve.experiments.reproduction;

/** The style sheet of {@code index.html}: light, dark, narrow and printed. Stateless. */
final class PageStyle {
    static final String CSS = """
            :root { --ink: #1f2328; --soft: #59636e; --line: #d8dde3; --ground: #fff; --card: #fff;
              --good: #0b6b5e; --bad: #b3331f; --grey: #6b7280; --accent: #d9c7a0; }
            @media (prefers-color-scheme: dark) {
              :root { --ink: #e6e9ed; --soft: #a3adb8; --line: #3a424c; --ground: #15181c; --card: #fff;
                --good: #4cc2ae; --bad: #ff8a75; --grey: #9aa4af; --accent: #8a7a52; } }
            * { box-sizing: border-box; }
            body { margin: 0; background: var(--ground); color: var(--ink);
              font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
            main { max-width: 1120px; margin: 0 auto; padding: 28px 24px 80px; }
            h1 { font-size: 26px; margin: 0 0 4px; }
            h2 { font-size: 20px; margin: 48px 0 8px; padding-bottom: 6px; border-bottom: 3px solid var(--accent); }
            h3 { font-size: 16px; margin: 0 0 4px; }
            p { margin: 6px 0; max-width: 90ch; }
            .soft { color: var(--soft); font-size: 13px; }
            .rule { border-left: 4px solid var(--accent); padding-left: 14px; }
            .why { border-left: 4px solid var(--bad); padding-left: 14px; }
            .counts span { display: inline-block; margin: 8px 18px 0 0; }
            .counts b { font-size: 24px; }
            .agrees { color: var(--good); } .differs { color: var(--bad); }
            .cannot, .not-run { color: var(--grey); }
            nav a { display: inline-block; margin: 2px 4px; padding: 0 7px; border: 1px solid currentColor;
              border-radius: 9px; font-size: 13px; text-decoration: none; }
            nav a.not-run { border-style: dashed; }
            section { margin: 26px 0 0; padding: 14px 0 0; border-top: 1px solid var(--line); }
            .verdict { font-size: 13px; font-weight: 600; border: 1px solid currentColor; border-radius: 9px;
              padding: 1px 8px; margin-left: 8px; white-space: nowrap; }
            img { display: block; max-width: 100%; height: auto; background: var(--card); margin: 12px 0;
              border-radius: 4px; }
            .charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)); gap: 10px; }
            .charts img { margin: 0; }
            .scroll { overflow-x: auto; }
            table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; margin: 8px 0; }
            th, td { padding: 4px 9px; border-bottom: 1px solid var(--line); text-align: right; }
            th { color: var(--soft); vertical-align: bottom; }
            th:first-child, td:first-child { text-align: left; }
            td:first-child { white-space: nowrap; }
            td.words { white-space: normal; }
            td.words { min-width: 260px; max-width: 52ch; }
            summary { cursor: pointer; font-weight: 600; font-size: 13px; margin-top: 8px; }
            code { font: 12px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
            @media (max-width: 700px) { main { padding: 18px 12px 40px; } h1 { font-size: 21px; }
              td.words { min-width: 180px; } }
            @media print { :root { --ink: #000; --soft: #333; --line: #bbb; --ground: #fff; --good: #0b6b5e;
                --bad: #b3331f; --grey: #555; }
              body { font-size: 11px; } main { max-width: none; padding: 0; } nav { display: none; }
              section { break-inside: avoid-page; } .scroll { overflow: visible; } table { font-size: 9px; }
              th, td { padding: 2px 4px; } img { max-height: 12cm; } }
            """;

    private PageStyle() {}
}
