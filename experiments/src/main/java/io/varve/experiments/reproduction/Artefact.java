package io.varve.experiments.reproduction;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A table or figure of a paper. Immutable.
 *
 * @param id its name on the command line: {@code PAPER/fig-N} or {@code PAPER/table-N}
 * @param artefact its name in the paper, such as {@code Figure 8}
 * @param title its title in the paper, in our words
 * @param experiment the experiment that measures it
 * @param figures the experiment's figures that show it, by their ids; the artefact's own name if absent
 * @param charts names of the image files that show it, without suffix; {@code *} stands for any characters
 * @param only the part of the experiment's runs that it needs: values by {@code workload}, {@code size},
 *     {@code configuration}; all if absent
 * @param claims the paper's statements
 * @param explanation two sentences that explain a difference, by measurements
 * @param cannot the reason why it cannot be shown on this kind of machine; null if it can
 */
public record Artefact(String id, String artefact, String title, String experiment, @Nullable List<String> figures,
        @Nullable List<String> charts, @Nullable Map<String, List<String>> only, List<Claim> claims,
        @Nullable String explanation, @Nullable String cannot) {

    /** The paper's id. */
    public String paper() {
        return id.substring(0, id.indexOf('/'));
    }

    /** The ids of the experiment's figures that show it. */
    public List<String> shownBy() {
        return figures == null ? List.of(artefact) : figures;
    }
}
