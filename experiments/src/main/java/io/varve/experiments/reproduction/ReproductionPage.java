package io.varve.experiments.reproduction;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.varve.experiments.result.PaperTable;
import io.varve.experiments.run.context.Durations;

/**
 * The page {@code index.html} with an entry for each table and figure. Confined to the thread that makes it.
 *
 * <p>It is plain HTML without scripts, so that it prints, and so that it stays readable in any browser.
 */
final class ReproductionPage {
    private static final String HEAD = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Varve · five papers, reproduced</title>
            <style>
            """;

    /** Tables with more rows are closed at first. */
    private static final int LONG_TABLE = 16;

    private final StringBuilder html = new StringBuilder();
    private final Reproduction reproduction;

    private ReproductionPage(Reproduction reproduction) {
        this.reproduction = reproduction;
    }

    /**
     * @param results a result for each artefact, in the order of the definition
     * @param charts the images of each artefact, as paths from the page
     * @param machine what the page says of the machine
     */
    static String of(Reproduction reproduction, List<ArtefactResult> results, Map<String, List<String>> charts,
            String machine) {
        return new ReproductionPage(reproduction).page(results, charts, machine);
    }

    private String page(List<ArtefactResult> results, Map<String, List<String>> charts, String machine) {
        html.append(HEAD).append(PageStyle.CSS).append("</style>\n</head>\n<body>\n<main>\n");
        element("h1", "Five papers, reproduced with Varve");
        element("p", results.size() + " tables and figures. " + madeBy(results) + machine);
        counts(results);
        element("p", Verdict.RULE, "rule");
        if (results.stream().anyMatch(result -> result.scale().equals(Reproduction.SCALES.getFirst()))) {
            element("p", "At scale quick the data are too small for a verdict about a paper: it shows that everything "
                    + "runs, and the shapes of the figures.", "why");
        }
        contents(results);
        String paper = "";
        for (ArtefactResult result : results) {
            if (!paper.equals(result.artefact().paper())) {
                paper = result.artefact().paper();
                element("h2", reproduction.papers().getOrDefault(paper, paper));
            }
            entry(result, charts.getOrDefault(result.artefact().id(), List.of()));
        }
        return html.append("</main>\n</body>\n</html>\n").toString();
    }

    private static String madeBy(List<ArtefactResult> results) {
        String versions = results.stream().flatMap(result -> result.versions().stream()).distinct().sorted()
                .collect(Collectors.joining(", "));
        return versions.isEmpty() ? "" : "Made by Varve " + versions + ". ";
    }

    private void counts(List<ArtefactResult> results) {
        Map<Verdict, Long> counts = new EnumMap<>(Verdict.class);
        results.forEach(result -> counts.merge(result.verdict(), 1L, Long::sum));
        html.append("<p class=\"counts\">");
        for (Verdict verdict : Verdict.values()) {
            html.append("<span class=\"").append(name(verdict)).append("\"><b>")
                    .append(counts.getOrDefault(verdict, 0L)).append("</b> ").append(verdict.ofSeveral())
                    .append("</span> ");
        }
        html.append("</p>\n");
    }

    private void contents(List<ArtefactResult> results) {
        html.append("<nav>\n");
        String paper = "";
        for (ArtefactResult result : results) {
            if (!paper.equals(result.artefact().paper())) {
                html.append(paper.isEmpty() ? "" : "</p>\n");
                paper = result.artefact().paper();
                html.append("<p><b>").append(escaped(paper)).append("</b> ");
            }
            html.append("<a class=\"").append(name(result.verdict())).append("\" href=\"#")
                    .append(result.artefact().id()).append("\" title=\"").append(result.verdict().words())
                    .append("\">").append(escaped(result.artefact().artefact())).append("</a> ");
        }
        html.append("</p>\n</nav>\n");
    }

    private void entry(ArtefactResult result, List<String> charts) {
        Artefact artefact = result.artefact();
        html.append("<section id=\"").append(artefact.id()).append("\">\n<h3>")
                .append(escaped(artefact.artefact() + ": " + artefact.title())).append(" <span class=\"verdict ")
                .append(name(result.verdict())).append("\">").append(result.verdict().words())
                .append("</span></h3>\n");
        html.append("<p class=\"soft\"><code>./varve reproduce ").append(artefact.id()).append(" --scale ")
                .append(result.scale()).append("</code> · ").append(result.state())
                .append(result.seconds() == 0 ? "" : " · " + Durations.words(result.seconds()))
                .append(" · ").append(escaped(result.about())).append("</p>\n");
        if (artefact.cannot() != null) {
            element("p", artefact.cannot(), "why");
        }
        if (artefact.explanation() != null && result.verdict() == Verdict.DIFFERS) {
            element("p", artefact.explanation(), "why");
        }
        findings(result);
        html.append(charts.size() > 2 ? "<div class=\"charts\">\n" : "<div>\n");
        for (String chart : charts) {
            html.append("<img loading=\"lazy\" src=\"").append(escaped(chart)).append("\" alt=\"")
                    .append(escaped(artefact.artefact() + ", " + artefact.title())).append("\">\n");
        }
        html.append("</div>\n");
        result.tables().forEach(this::table);
        result.omitted().forEach(line -> element("p", "Omitted: " + line, "soft"));
        html.append("</section>\n");
    }

    private void findings(ArtefactResult result) {
        if (result.findings().isEmpty()) {
            return;
        }
        html.append("<div class=\"scroll\"><table class=\"claims\">\n<tr><th>The paper states</th><th>published</th>"
                + "<th>agrees if</th><th>measured</th><th></th></tr>\n");
        for (Finding finding : result.findings()) {
            Claim claim = finding.claim();
            html.append("<tr>");
            cell(claim.says(), "words");
            cell(claim.published() == null ? "–" : claim.text(claim.published()), "");
            cell(claim.limits(), "");
            cell(finding.isMeasured() ? claim.text(finding.measured()) : "not measured", "");
            cell(finding.isMeasured() ? finding.holds() ? "holds" : "does not hold" : "–",
                    finding.isMeasured() ? finding.holds() ? "agrees" : "differs" : "");
            html.append("</tr>\n");
        }
        html.append("</table></div>\n");
    }

    private void table(PaperTable table) {
        if (!table.says().isEmpty()) {
            element("p", "The paper: " + table.says(), "soft");
        }
        if (!table.rows().isEmpty()) {
            html.append(table.rows().size() > LONG_TABLE ? "<details><summary>" : "<details open><summary>")
                    .append(escaped(table.id() + ": " + table.title()))
                    .append(table.rows().size() > LONG_TABLE ? " (" + table.rows().size() + " rows)" : "")
                    .append("</summary><div class=\"scroll\"><table>\n<tr>");
            table.head().forEach(head -> html.append("<th>").append(escaped(head)).append("</th>"));
            html.append("</tr>\n");
            for (List<String> row : table.rows()) {
                html.append("<tr>");
                row.forEach(word -> cell(word, ""));
                html.append("</tr>\n");
            }
            html.append("</table></div></details>\n");
        }
        table.notes().forEach(note -> element("p", note, "soft"));
    }

    private void cell(String text, String style) {
        html.append(style.isEmpty() ? "<td>" : "<td class=\"" + style + "\">").append(escaped(text)).append("</td>");
    }

    private void element(String tag, String text) {
        html.append('<').append(tag).append('>').append(escaped(text)).append("</").append(tag).append(">\n");
    }

    private void element(String tag, String text, String style) {
        html.append('<').append(tag).append(" class=\"").append(style).append("\">").append(escaped(text))
                .append("</").append(tag).append(">\n");
    }

    private static String name(Verdict verdict) {
        return switch (verdict) {
            case AGREES -> "agrees";
            case DIFFERS -> "differs";
            case CANNOT_BE_SHOWN -> "cannot";
            case NOT_RUN -> "not-run";
        };
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
