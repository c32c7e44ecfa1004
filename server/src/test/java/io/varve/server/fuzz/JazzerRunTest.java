package io.varve.server.fuzz;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.varve.server.VarveServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that Jazzer, which an ordinary build does not include, finds all targets when it is present. Confined to the
 * test's thread.
 */
class JazzerRunTest {
    @Test
    void everyFuzzTestIsATargetOfJazzer() throws IOException, URISyntaxException {
        Path classes = Path.of(JazzerRunTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (Stream<Path> files = Files.walk(classes)) {
            List<String> tests = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith("FuzzTest.class")).map(name -> name.replace(".class", "")).toList();
            assertThat(JazzerRun.cases()).map(FuzzCase::name).containsExactlyInAnyOrderElementsOf(tests);
        }
    }

    @Test
    void targetsHaveTheNamesThatJazzerExpects() throws NoSuchMethodException {
        for (FuzzCase each : JazzerRun.cases()) {
            assertThat(each.test().getPackageName()).startsWith(VarveServer.class.getPackageName());
            assertThat(Modifier.isPublic(each.test().getModifiers())).as(each.name()).isTrue();
            Method target = each.test().getMethod("fuzzerTestOneInput", byte[].class);
            assertThat(Modifier.isStatic(target.getModifiers())).as(each.name()).isTrue();
            assertThat(target.getReturnType()).as(each.name()).isEqualTo(void.class);
        }
    }

    @Test
    void aWordOfTheDictionaryIsWrittenByteForByte() {
        assertThat(JazzerRun.dictionary(List.of("\r\n\"".getBytes(StandardCharsets.ISO_8859_1), new byte[] {-1, 'a'})))
                .isEqualTo("\"\\x0D\\x0A\\x22\"\n\"\\xFF\\x61\"\n");
    }
}
