package io.varve.server.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the patterns of {@code -XX:CompileCommand=dontinline} match the handlers of commands. A pattern that
 * matches nothing is silently ignored by the JVM and costs up to 10 % of a GET (decision 34).
 */
class CompileCommandTest {
    private static final Pattern DONT_INLINE = Pattern
            .compile("CompileCommand=dontinline,\\*(?<suffix>\\w+)\\.\\*(?<descriptor>\\([\\w/;]*\\)V)");
    private static final int MIN_HANDLERS = 100;
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages("io.varve.server");

    private static String descriptor(JavaMethod method) {
        StringBuilder text = new StringBuilder("(");
        method.getRawParameterTypes().forEach(type -> text.append(type.reflect().descriptorString()));
        return text.append(')').append(method.getRawReturnType().reflect().descriptorString()).toString();
    }

    private static List<String> matches(MatchResult pattern) {
        return CLASSES.stream().filter(owner -> owner.getName().endsWith(pattern.group("suffix")))
                .flatMap(owner -> owner.getMethods().stream())
                .filter(method -> descriptor(method).equals(pattern.group("descriptor")))
                .map(method -> method.getOwner().getSimpleName() + "." + method.getName()).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"distribution/src/sh/jvm.sh",
            "jmh/src/main/java/io/varve/server/net/CommandBenchmark.java",
            "jmh/src/main/java/io/varve/server/net/ScalingBenchmark.java"})
    void pattern_matchesTheHandlersOfCommands(String file) throws IOException {
        List<MatchResult> patterns = DONT_INLINE.matcher(Files.readString(Path.of("..", file))).results().toList();
        List<String> handlers = new ArrayList<>();
        for (MatchResult pattern : patterns) {
            List<String> matching = matches(pattern);
            assertThat(matching).as(pattern.group()).isNotEmpty();
            handlers.addAll(matching);
        }
        assertThat(handlers).as(file).hasSizeGreaterThan(MIN_HANDLERS).contains("StringCommands.get",
                "StringCommands.set", "GroupReadCommand.read");
    }
}
