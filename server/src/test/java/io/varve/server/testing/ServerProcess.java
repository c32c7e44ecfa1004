package io.varve.server.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A server in its own process, with the launcher script's JVM options. Confined to the test's thread. */
public final class ServerProcess implements AutoCloseable {
    private static final Pattern SERVE_OPTIONS = Pattern.compile(
            "serve_from\\(\\) \\{.*?VARVE_JAVA_OPTS=\"(.*?)\\$\\{VARVE",
            Pattern.DOTALL);
    private static final Pattern JAVA_OPTIONS = Pattern.compile("exec \\$in_background \"\\$java\" (.*?)-Dvarve",
            Pattern.DOTALL);
    /** The sizing of a machine with much memory; a line {@code name=number name=number}. */
    private static final Pattern SIZES = Pattern.compile("\\n    (heap=\\d+ .*)\\n");
    private static final Pattern PORT = Pattern.compile("port (\\d+)");

    /** When methods are compiled, and what is inlined: options of the test's JVM that its servers share. */
    private static final Pattern COMPILER = Pattern.compile("-XX:(Tier.*|.*Inline.*)");

    private final Process process;
    private final int port;
    private final Path errors;

    private ServerProcess(Process process, int port, Path errors) {
        this.process = process;
        this.port = port;
        this.errors = errors;
    }

    /** Starts {@code serve} on a free port and waits until it is ready. */
    public static ServerProcess start(String... settings) throws IOException {
        return start(UnaryOperator.identity(), settings);
    }

    /** As {@link #start(String...)}, by another command line. */
    public static ServerProcess start(UnaryOperator<List<String>> commandLine, String... settings) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("--port", "0"));
        arguments.addAll(List.of(settings));
        Path errors = Files.createTempFile("varve-server", ".log");
        Process process = new ProcessBuilder(commandLine.apply(command(arguments))).redirectError(errors.toFile())
                .start();
        try {
            return new ServerProcess(process, awaitReady(process, errors), errors);
        } catch (IOException | RuntimeException failed) {
            process.destroyForcibly();
            throw failed;
        }
    }

    /** The command line of a server that compiles as in production, for a test of its whole memory. */
    public static List<String> compilingAsInProduction(List<String> commandLine) {
        List<String> testOptions = compilerOptions();
        return commandLine.stream().filter(word -> !testOptions.contains(word)).toList();
    }

    private static List<String> compilerOptions() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(COMPILER.asMatchPredicate())
                .toList();
    }

    /** Writes a script to the directory that starts the server of this build; its arguments are settings. */
    public static Path script(Path directory) throws IOException {
        String command = command(List.of()).stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
        Path script = Files.createFile(directory.resolve("serve"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        return Files.writeString(script, "#!/bin/sh\nexec " + command + " \"$@\"\n");
    }

    /** The command line of a server with these arguments. */
    public static List<String> command(List<String> arguments) throws IOException {
        String launcher = Files.readString(Path.of("../distribution/src/sh/jvm.sh"));
        List<String> command = new ArrayList<>();
        if (System.getProperty("os.name").equals("Linux")) {
            // Tests that run in the background pass on a SIGINT that is ignored.
            command.addAll(List.of("env", "--default-signal=INT"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options(JAVA_OPTIONS, launcher));
        String serve = String.join(" ", options(SERVE_OPTIONS, launcher)).replace("$small_jvm", "");
        for (String size : options(SIZES, launcher)) {
            String[] named = size.split("=");
            serve = serve.replace("${" + named[0] + "}", named[1]);
        }
        command.addAll(List.of(serve.trim().split("\\s+")));
        command.addAll(compilerOptions());
        command.add("-cp");
        command.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        command.add("io.varve.server.Main");
        command.addAll(arguments);
        return command;
    }

    private static List<String> options(Pattern pattern, String launcher) {
        Matcher matcher = pattern.matcher(launcher);
        if (!matcher.find()) {
            throw new IllegalStateException("The launcher script has no " + pattern);
        }
        return List.of(matcher.group(1).replace("\\\n", " ").trim().split("\\s+"));
    }

    // The reader is not closed: the process would be refused its standard output.
    @SuppressWarnings("resource")
    private static int awaitReady(Process process, Path errors) throws IOException {
        BufferedReader reader = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        int port = 0;
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            Matcher matcher = PORT.matcher(line);
            if (matcher.find()) {
                port = Integer.parseInt(matcher.group(1));
            }
            if (line.contains("Ready to accept connections")) {
                return port;
            }
        }
        throw new IOException("The server did not start: " + Files.readString(errors));
    }

    public int port() {
        return port;
    }

    public Process process() {
        return process;
    }

    /** Its output to standard error so far. */
    public String errors() throws IOException {
        return Files.readString(errors);
    }

    /** Resident bytes, as the kernel counts them: the peak for {@code VmHWM}, the current value for {@code VmRSS}. */
    public long memoryBytes(String field) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status"))) {
            if (line.startsWith(field + ":")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IOException("The kernel says nothing of " + field);
    }

    /** Waits for the end. @return the exit status, or -1 if it has not ended in time */
    public int awaitEnd(int seconds) throws InterruptedException {
        return process.waitFor(seconds, TimeUnit.SECONDS) ? process.exitValue() : -1;
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(errors);
    }
}
