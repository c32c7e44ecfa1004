package io.varve.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import io.varve.server.training.TrainingKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs the training workload of the AOT cache, with few requests. Confined to the test's thread. */
class TrainingRunTest {
    private static final int REQUESTS = 20;

    @TempDir
    private Path folder;
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run() throws IOException, InterruptedException {
        return TrainingRun.run(folder, REQUESTS, new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private String printed() {
        return err.toString(StandardCharsets.UTF_8);
    }

    /** As the launcher makes it. */
    private void makeKeys() throws IOException, InterruptedException {
        Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-keystore", folder.resolve(TrainingKeys.STORE).toString(), "-storetype", "PKCS12",
                "-storepass", "training", "-alias", "training", "-keyalg", "EC", "-groupname", "secp256r1", "-dname",
                "CN=training", "-validity", "2").redirectErrorStream(true).start();
        String text = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(text).isZero();
    }

    @Test
    void run_withKeys_trainsAllConnectionsAndEnds() throws IOException, InterruptedException {
        makeKeys();
        assertThat(run()).as(printed()).isZero();
        assertThat(printed()).isEmpty();
    }

    @Test
    void run_withoutKeys_trainsTheOthers() throws IOException, InterruptedException {
        assertThat(run()).as(printed()).isZero();
        assertThat(printed()).hasLineCount(1).contains("has no connections over TLS");
    }

    @Test
    void run_withUnusableKeys_trainsTheOthers() throws IOException, InterruptedException {
        Files.writeString(folder.resolve(TrainingKeys.STORE), "no store");
        assertThat(run()).as(printed()).isZero();
        assertThat(printed()).hasLineCount(1).contains("has no connections over TLS");
    }
}
