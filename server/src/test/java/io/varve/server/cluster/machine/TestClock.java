package io.varve.server.cluster.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The time of day of one process, which a test can set. Confined to the test's thread.
 *
 * <p>It needs the library libfaketime, whose path is {@code -Dvarve.cluster.faketime=PATH}.
 */
public final class TestClock {
    private static final String LIBRARY = System.getProperty("varve.cluster.faketime", "");

    private final Path file;

    private TestClock(Path file) throws IOException {
        this.file = file;
        jump(0);
    }

    public static boolean isPossible() {
        return !LIBRARY.isEmpty();
    }

    /** @param file which the process reads */
    public static TestClock in(Path file) throws IOException {
        return new TestClock(file);
    }

    /** A command line of a process with this clock. */
    public List<String> with(List<String> command) {
        if (!isPossible()) {
            return command;
        }
        List<String> all = new ArrayList<>(List.of("env", "LD_PRELOAD=" + LIBRARY, "FAKETIME_TIMESTAMP_FILE=" + file,
                "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_FORCE_MONOTONIC_FIX=0"));
        all.addAll(command);
        return all;
    }

    /** Sets the clock so many seconds before or after the time of this machine. */
    public void jump(long seconds) throws IOException {
        Path next = Files.writeString(file.resolveSibling(file.getFileName() + ".next"),
                (seconds < 0 ? "" : "+") + seconds + "\n");
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
