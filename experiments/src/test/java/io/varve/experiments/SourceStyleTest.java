package io.varve.experiments;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules for comments and documents of all modules, which the formatter does not enforce. Confined to the test's thread.
 */
class SourceStyleTest {
    private static final int MOST_COLUMNS = 120;
    private static final int MOST_WORDS = 40;
    private static final int MOST_LINES = 600;
    private static final int MOST_FILES = 24;
    private static final int LEAST_SOURCES = 500;
    private static final int LEAST_DOCUMENTS = 20;
    private static final Pattern SAME = Pattern.compile("/\\*\\*\\s*(?:\\*\\s*)?The same\\b");
    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?:;])\\s+");
    private static final Pattern LIST_ITEM = Pattern.compile("\\s*(?:[*-]|\\d+\\.) .*");
    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private static List<Path> files(String suffix) throws IOException {
        Path home = Experiments.home();
        try (Stream<Path> files = Files.walk(home)) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .filter(file -> home.relativize(file).getNameCount() == 1
                            || !home.relativize(file).toString().matches("(?:.*/)?(?:target|runs|\\.[^/]*)/.*"))
                    .sorted().toList();
        }
    }

    private static List<Path> sources() throws IOException {
        return files(".java").stream().filter(file -> file.toString().contains("/src/")).toList();
    }

    private static List<String> problems(List<Path> files, Function<String, List<String>> check) {
        List<String> found = new ArrayList<>();
        for (Path file : files) {
            try {
                check.apply(Files.readString(file))
                        .forEach(problem -> found.add(Experiments.home().relativize(file) + ": " + problem));
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }
        return found;
    }

    private static boolean isTooLong(String line) {
        return line.codePointCount(0, line.length()) > MOST_COLUMNS;
    }

    private static boolean isComment(String line) {
        String text = line.strip();
        return text.startsWith("//") || text.startsWith("*") || text.startsWith("/*");
    }

    @Test
    void comments_haveAtMost120Columns() throws IOException {
        List<Path> sources = sources();
        assertThat(sources).hasSizeGreaterThan(LEAST_SOURCES);
        assertThat(problems(sources,
                text -> text.lines().filter(line -> isComment(line) && isTooLong(line)).toList())).isEmpty();
    }

    @Test
    void sources_haveAtMost600Lines() throws IOException {
        assertThat(problems(sources(), text -> text.lines().count() > MOST_LINES
                ? List.of(text.lines().count() + " lines")
                : List.of())).isEmpty();
    }

    @Test
    void packages_haveAtMost24Files() throws IOException {
        Map<Path, Long> sizes = sources().stream()
                .collect(
                        Collectors.groupingBy(file -> Objects.requireNonNull(file.getParent()), Collectors.counting()));
        sizes.values().removeIf(files -> files <= MOST_FILES);
        assertThat(sizes).isEmpty();
    }

    @Test
    void javadocs_stateWhatAThingIs() throws IOException {
        assertThat(problems(sources(), text -> SAME.matcher(text).results().map(match -> "begins with The same")
                .toList())).isEmpty();
    }

    /** Tables and code blocks may be wider. */
    @Test
    void documents_haveAtMost120Columns() throws IOException {
        List<Path> documents = files(".md");
        assertThat(documents).hasSizeGreaterThan(LEAST_DOCUMENTS);
        assertThat(problems(documents, text -> prose(text).stream().filter(SourceStyleTest::isTooLong).toList()))
                .isEmpty();
    }

    @Test
    void sentencesOfDocuments_haveAtMost40Words() throws IOException {
        Path home = Experiments.home();
        List<Path> documents = files(".md").stream()
                .filter(file -> file.startsWith(home.resolve("docs")) || file.equals(home.resolve("README.md")))
                .toList();
        assertThat(problems(documents, text -> paragraphs(text).stream().flatMap(SENTENCE_END::splitAsStream)
                .filter(sentence -> BLANKS.split(sentence).length > MOST_WORDS).toList())).isEmpty();
    }

    /** Lines outside code blocks and tables; blank lines stay. */
    private static List<String> prose(String text) {
        List<String> lines = new ArrayList<>();
        boolean code = false;
        for (String line : text.lines().toList()) {
            boolean fence = line.strip().startsWith("```");
            code ^= fence;
            lines.add(fence || code || line.strip().startsWith("|") ? "" : line);
        }
        return lines;
    }

    private static List<String> paragraphs(String text) {
        List<String> paragraphs = new ArrayList<>();
        StringBuilder paragraph = new StringBuilder();
        for (String line : prose(text)) {
            boolean ends = line.isBlank() || line.startsWith("#");
            if (ends || LIST_ITEM.matcher(line).matches()) {
                paragraphs.add(paragraph.toString());
                paragraph.setLength(0);
            }
            paragraph.append(ends ? "" : line.strip() + " ");
        }
        paragraphs.add(paragraph.toString());
        return paragraphs;
    }
}
