package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Copies the launcher into a test's folder. Immutable: static methods only. */
public final class LauncherCopy {
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

    /** Leaves a folder as a build leaves it, with the classes of this test. */
    public static Path built(Path home) throws IOException {
        into(home);
        Path state = Files.createDirectories(home.resolve("target/launcher"));
        for (String module : List.of("server", "experiments", "ycsb")) {
            Files.writeString(state.resolve(module + ".classpath"), System.getProperty("java.class.path") + "\n");
        }
        Files.writeString(state.resolve("stamp"), home.toRealPath() + "\n");
        return home;
    }
}
