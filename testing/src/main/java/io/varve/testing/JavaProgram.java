package io.varve.testing;

import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The command line of a program of ours that a test starts in a JVM of its own. Thread-safe, also between the JVMs that
 * run tests.
 *
 * <p>The first test that starts a program writes a cache of the classes that it loads at its start (JEP 483 and 514).
 * Most of the CPU time of an integration test goes into starts, and the cache takes more than half of it away. The JVM
 * caches classes from jars only, so the tests of classes in a folder, such as in an editor, start without a cache.
 */
public final class JavaProgram {
    /** What a program prints when it can be trained, and used. */
    private static final String READY = "Ready to accept connections";
    private static final int TRAINING_SECONDS = 120;
    private static final Path CACHES = Path.of("target", "start-caches");
    private static final Path TEST_CLASSES = Path.of("test-classes");

    private final String classPath;
    private final Path caches;
    private final String mainClass;
    private final List<String> options;

    JavaProgram(String classPath, Path caches, String mainClass, List<String> options) {
        this.classPath = classPath;
        this.caches = caches;
        this.mainClass = mainClass;
        this.options = List.copyOf(options);
    }

    /**
     * A program on this test's class path.
     *
     * @param options options of its JVM
     */
    public static JavaProgram of(String mainClass, List<String> options) {
        return new JavaProgram(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                CACHES, mainClass, options);
    }

    /**
     * The command line that starts the program.
     *
     * @param training arguments with which it becomes ready at once, to be ended by SIGTERM; it runs in an empty folder
     * @param arguments arguments of this start
     */
    public List<String> command(List<String> training, List<String> arguments) throws IOException {
        List<String> jars = jars();
        if (jars.isEmpty()) {
            return line(classPath, List.of(), arguments);
        }
        String jarPath = String.join(File.pathSeparator, jars);
        Path cache = cache(jars, jarPath, training);
        // The class path of the training comes first, as the JVM demands. A test may change the options or the main
        // class of the line: then the program starts without the cache, and says nothing.
        String wholePath = entries(true).reduce(jarPath, (path, folder) -> path + File.pathSeparator + folder);
        return line(wholePath, List.of("-XX:AOTCache=" + cache.toAbsolutePath(), "-Xlog:aot*=off,cds*=off"),
                arguments);
    }

    private List<String> line(String path, List<String> cacheOptions, List<String> arguments) {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(options);
        line.addAll(cacheOptions);
        line.addAll(List.of("-cp", path, mainClass));
        line.addAll(arguments);
        return line;
    }

    /** The class path without test classes; empty if it has other folders. */
    private List<String> jars() {
        List<String> all = entries(false).toList();
        return all.stream().allMatch(entry -> Files.isRegularFile(Path.of(entry))) ? all : List.of();
    }

    /** The entries of the class path that are, or are not, a folder of test classes. */
    private Stream<String> entries(boolean areTestClasses) {
        return Arrays.stream(classPath.split(File.pathSeparator))
                .filter(entry -> Path.of(entry).endsWith(TEST_CLASSES) == areTestClasses);
    }

    private Path cache(List<String> jars, String jarPath, List<String> training) throws IOException {
        synchronized (JavaProgram.class) {
            Files.createDirectories(caches);
            String name = mainClass + '-' + Integer.toHexString(state(jars));
            Path cache = caches.resolve(name + ".aot");
            try (FileChannel channel = FileChannel.open(caches.resolve(mainClass + ".lock"), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE)) {
                // Until the channel is closed, the JVMs beside this one wait.
                channel.lock();
                if (!Files.exists(cache)) {
                    deleteCaches();
                    Path next = caches.resolve(name + ".next");
                    train(jarPath, training, next);
                    Files.move(next, cache, StandardCopyOption.ATOMIC_MOVE);
                }
            }
            return cache;
        }
    }

    /** A hash of what a cache depends on. */
    private static int state(List<String> jars) throws IOException {
        StringBuilder state = new StringBuilder(System.getProperty("java.home"));
        for (String jar : jars) {
            state.append('\n').append(jar).append(' ').append(Files.size(Path.of(jar))).append(' ')
                    .append(Files.getLastModifiedTime(Path.of(jar)));
        }
        return state.toString().hashCode();
    }

    /** Deletes the caches of earlier builds. Processes that use one keep it. */
    private void deleteCaches() throws IOException {
        try (DirectoryStream<Path> old = Files.newDirectoryStream(caches, mainClass + "-*")) {
            for (Path cache : old) {
                Files.delete(cache);
            }
        }
    }

    private void train(String jarPath, List<String> training, Path cache) throws IOException {
        // The JVM assembles the cache in memory of the size of the compressed class space.
        List<String> output = List.of("-XX:AOTCacheOutput=" + cache.toAbsolutePath(), "-XX:MaxMetaspaceSize=512m");
        Process process = new ProcessBuilder(line(jarPath, output, training))
                .directory(Files.createTempDirectory(caches, "training-").toFile())
                .redirectErrorStream(true)
                .start();
        ProcessOutput printed = ProcessOutput.of(process);
        try {
            printed.awaitLine(READY);
            // Not by the process itself, which would close its output.
            process.toHandle().destroy();
            printed.awaitEnd();
            if (!process.waitFor(TRAINING_SECONDS, TimeUnit.SECONDS) || !Files.exists(cache)) {
                throw new IOException("The training run of " + mainClass + " has left no cache:\n" + printed.text());
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted during the training run of " + mainClass);
        } finally {
            process.destroyForcibly();
        }
    }
}
