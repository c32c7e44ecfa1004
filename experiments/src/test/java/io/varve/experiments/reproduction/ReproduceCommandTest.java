package io.varve.experiments.reproduction;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.CommandOutput;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static io.varve.experiments.CommandOutput.run;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@code reproduce}: its list, its plan, a run that resumes, and bad input. Confined to the test's thread. */
class ReproduceCommandTest {
    @TempDir
    Path folder;

    @Test
    void theListHasALineForEachTableAndFigure() {
        CommandOutput listed = run("reproduce", "--list", "--out", folder.toString());
        assertThat(listed.status()).isZero();
        List<String> lines = listed.out().lines().toList();
        assertThat(lines).hasSize(45).doesNotHaveDuplicates();
        assertThat(lines).allMatch(line -> line.matches(
                "([a-z-]+)/(fig|table)-\\d+,\\1,(Figure|Table) [0-9IV]+,\\./varve reproduce \\1/\\2-\\d+ --scale "
                        + "(quick|small|paper),(quick|small|paper),[^,]+,[^,]+"));
        assertThat(run("reproduce", "--list", "durable-kv").out()).hasLineCount(5).contains("durable-kv/table-1");
    }

    @Test
    void badInputNamesWhatIsExpected() {
        CommandOutput unknown = run("reproduce", "tbf/fig-1");
        assertThat(unknown.status()).isEqualTo(2);
        assertThat(unknown.err()).contains("reproduce 'tbf/fig-1'", "--list");
        assertThat(run("reproduce", "--at-once", "-1").err()).contains("--at-once -1: expected 1 or more");
        assertThat(run("reproduce", "--scale", "huge").err()).contains("--scale 'huge'", "quick, small, paper");
    }

    @Test
    void theDryRunHasTheRunsOfTheChosenFiguresOnly() {
        String planned = run("reproduce", "--dry-run", "--scale", "small", "redis-plus-plus/fig-6",
                "durable-kv/table-2").out();
        assertThat(planned)
                .contains("redis-plus-plus --scale small: 12 runs", "hot-cold", "locks --scale small: 1 runs",
                        "In all about")
                .doesNotContain("W1_", "Tiny");
    }

    @Test
    void theReportOfNoRunsHasAllEntries() throws IOException {
        Path none = folder.resolve("none");
        CommandOutput written = run("reproduce", "--report", "--out", none.toString());
        assertThat(written.status()).as(written.err()).isZero();
        assertThat(written.out()).contains("45 not run");
        assertThat(Files.readString(none.resolve("index.html")).split("<section", -1)).hasSize(1 + 45);
    }

    @Test
    void completeRunsAreKeptAndThePageHasAllEntries() throws IOException {
        CommandOutput first = run("reproduce", "durable-kv/fig-4", "--scale", "quick", "--at-once", "3", "--out",
                folder.toString());
        assertThat(first.status()).as(first.out()).isZero();
        assertThat(first.out()).contains("1 tables and figures from 1 experiments", "durable-kv/fig-4  agrees",
                "1 agree, 0 differ");
        Path page = folder.resolve("index.html");
        String html = Files.readString(page);
        assertThat(html.split("<section", -1)).hasSize(1 + 45);
        assertThat(html).contains("charts/durable-kv-fig-4-1.", "standard deviation");
        try (var charts = Files.list(folder.resolve("charts"))) {
            assertThat(charts).isNotEmpty();
        }
        assertThat(first.out()).doesNotContain("no run has written a chart");
        CommandOutput otherScale = run("reproduce", "durable-kv/fig-4", "--scale", "small", "--out",
                folder.toString());
        assertThat(otherScale.status()).isEqualTo(2);
        assertThat(otherScale.err()).contains("virtual-nodes", "scale quick, not small", "another folder");
        deleteCharts();
        CommandOutput second = run("reproduce", "durable-kv", "--scale", "quick", "--out", folder.toString(),
                "--report");
        assertThat(second.status()).isZero();
        assertThat(second.out()).as("Figure 3 has the same runs").contains("2 agree, 0 differ", "3 not run")
                .doesNotContain("no run has written a chart");
        assertThat(folder.resolve("virtual-nodes/figure-4.svg")).as("drawn again from the runs").isNotEmptyFile();
    }

    private void deleteCharts() throws IOException {
        try (DirectoryStream<Path> charts = Files.newDirectoryStream(folder.resolve("virtual-nodes"),
                "*.{svg,png}")) {
            for (Path chart : charts) {
                Files.delete(chart);
            }
        }
    }
}
