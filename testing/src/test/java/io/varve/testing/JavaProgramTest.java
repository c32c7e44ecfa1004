package io.varve.testing;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests {@link JavaProgram} with a small program in a JAR file. Confined to the test's thread. */
@Timeout(120)
class JavaProgramTest {
    private static final String MAIN = Waiting.class.getName();
    private static final String FROM_CACHE = MAIN + " source: shared objects file";

    @TempDir
    private Path folder;

    /** Says that it is ready, and waits for its end, or ends at once if it has an argument. */
    static final class Waiting {
        private Waiting() {}

        public static void main(String[] arguments) throws InterruptedException {
            System.out.println("Ready to accept connections");
            if (arguments.length == 0) {
                new CountDownLatch(1).await();
            }
        }
    }

    private Path jar(String name, String comment) throws IOException {
        Path jar = folder.resolve(name);
        String entry = MAIN.replace('.', '/') + ".class";
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                InputStream classFile = JavaProgramTest.class.getResourceAsStream('/' + entry)) {
            out.setComment(comment);
            out.putNextEntry(new JarEntry(entry));
            out.write(Objects.requireNonNull(classFile).readAllBytes());
        }
        return jar;
    }

    private JavaProgram program(String... classPath) {
        return new JavaProgram(String.join(File.pathSeparator, classPath), folder.resolve("caches"), MAIN,
                List.of("-XX:+UseSerialGC", "-Xmx64m"));
    }

    private static String run(List<String> command) throws Exception {
        List<String> logged = new ArrayList<>(command);
        logged.add(1, "-Xlog:class+load");
        ProcessOutput output = ProcessOutput.of(new ProcessBuilder(logged).redirectErrorStream(true).start());
        output.awaitEnd();
        assertThat(output.text()).contains("Ready to accept connections");
        return output.text();
    }

    private List<Path> caches() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("caches"))) {
            return files.filter(file -> file.toString().endsWith(".aot")).toList();
        }
    }

    @Test
    void programInJars_startsFromItsCache() throws Exception {
        String jar = jar("program.jar", "first").toString();
        Path testClasses = Files.createDirectory(folder.resolve("test-classes"));
        List<String> command = program(testClasses.toString(), jar).command(List.of(), List.of("end"));
        assertThat(run(command)).contains(FROM_CACHE);
        assertThat(command.get(command.indexOf("-cp") + 1)).as("a test may name a class of its own").contains(
                testClasses.toString());
        List<Path> caches = caches();
        assertThat(caches).hasSize(1);
        assertThat(run(program(jar).command(List.of(), List.of("end")))).contains(FROM_CACHE);
        assertThat(caches()).isEqualTo(caches);
    }

    @Test
    void anotherBuild_hasAnotherCache() throws Exception {
        String jar = jar("program.jar", "first").toString();
        program(jar).command(List.of(), List.of("end"));
        List<Path> first = caches();
        jar("program.jar", "the second build");
        assertThat(run(program(jar).command(List.of(), List.of("end")))).contains(FROM_CACHE);
        assertThat(caches()).hasSize(1).doesNotContainAnyElementsOf(first);
    }

    @Test
    void programInAFolder_startsWithoutACache() throws Exception {
        Path classes = Path.of(JavaProgramTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path renamed = Files.createSymbolicLink(folder.resolve("classes"), classes);
        String output = run(program(renamed.toString()).command(List.of(), List.of("end")));
        assertThat(output).contains(MAIN + " source:").doesNotContain(FROM_CACHE);
        assertThat(folder.resolve("caches")).doesNotExist();
    }

    @Test
    void programThatDoesNotBecomeReady_isAnError() throws IOException {
        String jar = jar("program.jar", "first").toString();
        JavaProgram broken = new JavaProgram(jar, folder.resolve("caches"), "no.such.Main", List.of());
        assertThatThrownBy(() -> broken.command(List.of(), List.of())).isInstanceOf(AssertionError.class)
                .hasMessageContaining("no.such.Main");
    }
}
