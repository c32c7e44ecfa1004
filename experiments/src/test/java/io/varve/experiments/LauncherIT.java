package io.varve.experiments;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The launcher's answers that need no build. Confined to the test's thread. */
final class LauncherIT {
    private record Answer(int status, String text) {}

    private static Answer ask(Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Experiments.home().resolve("varve").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return new Answer(process.exitValue(), text);
    }

    @Test
    void helpListsTheVerbsOfThisVersionAlone() throws IOException, InterruptedException {
        Answer help = ask(Map.of(), "help");
        assertThat(help.status()).isZero();
        assertThat(help.text()).contains("serve", "run", "experiments", "ycsb", "jmh", "version")
                .doesNotContain("simulate")
                .doesNotContain("mrc");
    }

    @Test
    void whatIsNotThereIsStatus2() throws IOException, InterruptedException {
        assertThat(ask(Map.of(), "mrc").text()).contains("'mrc' is not in this version");
        assertThat(ask(Map.of(), "simulate").status()).isEqualTo(2);
        Answer unknown = ask(Map.of(), "frobnicate");
        assertThat(unknown.status()).isEqualTo(2);
        assertThat(unknown.text()).contains("'frobnicate'").contains("serve, run");
    }

    @Test
    void aJdk25IsFoundWhateverJavaHomeSays() throws IOException, InterruptedException {
        Answer version = ask(Map.of("JAVA_HOME", "/nowhere"), "version");
        assertThat(version.status()).isZero();
        assertThat(version.text()).startsWith("varve ").contains("25.");
    }
}
