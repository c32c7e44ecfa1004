package io.varve.server.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A fuzz target with its seed inputs. Immutable, except the bytes, which no code changes.
 *
 * <p>Inputs that once failed are kept in a folder with the test's name beside it, in the test's resources, and are
 * tried in every run.
 */
public final class FuzzCase {
    private final Class<?> test;
    private final FuzzTarget target;
    private final List<byte[]> seeds;
    private final List<byte[]> words;
    private final List<byte[]> kept;

    /**
     * @param test  that the target belongs to; Jazzer finds the target there under the name {@code fuzzerTestOneInput}
     * @param seeds good inputs, as ISO 8859-1
     * @param words what inputs are made of
     */
    public FuzzCase(Class<?> test, FuzzTarget target, List<String> seeds, List<String> words) {
        this.test = test;
        this.target = target;
        this.seeds = seeds.stream().map(FuzzCase::bytes).toList();
        this.words = words.stream().map(FuzzCase::bytes).toList();
        kept = kept(test.getResource(test.getSimpleName()));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static List<byte[]> kept(@Nullable URL folder) {
        List<byte[]> kept = new ArrayList<>();
        if (folder != null) {
            try (Stream<Path> files = Files.list(Path.of(folder.toURI()))) {
                for (Path file : files.sorted().toList()) {
                    kept.add(Files.readAllBytes(file));
                }
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            } catch (URISyntaxException wrong) {
                throw new IllegalStateException(folder.toString(), wrong);
            }
        }
        return kept;
    }

    Class<?> test() {
        return test;
    }

    String name() {
        return test.getSimpleName();
    }

    FuzzTarget target() {
        return target;
    }

    List<byte[]> seeds() {
        return seeds;
    }

    List<byte[]> words() {
        return words;
    }

    /** Inputs that have failed once. */
    List<byte[]> kept() {
        return kept;
    }
}
