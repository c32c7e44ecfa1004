package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Copies the launcher into a test's folder. Immutable: static methods only. */
final class LauncherCopy {
    private static final List<String> SHARED = List.of("jvm.sh", "verbs.sh");

    private LauncherCopy() {}

    /** Copies the launcher and the files that it reads. @return the copy */
    static Path into(Path home) throws IOException {
        Path shared = Files.createDirectories(home.resolve("distribution/src/sh"));
        for (String name : SHARED) {
            Files.copy(Experiments.home().resolve("distribution/src/sh").resolve(name), shared.resolve(name));
        }
        Path launcher = Files.copy(Experiments.home().resolve("varve"), home.resolve("varve"));
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
        return launcher;
    }
}
