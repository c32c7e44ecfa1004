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
    private static final int MAX_COLUMNS = 120;
    private static final int MAX_WORDS = 40;
    private static final int MAX_LINES = 600;
    private static final int MAX_FILES = 24;
    private static final int MIN_SOURCES = 500;
    private static final int MIN_DOCUMENTS = 20;
    private static final int MIN_SCRIPTS = 40;
    private static final int MIN_XML_FILES = 10;
    private static final Pattern SOURCES = Pattern.compile(".*/src/.*\\.java");
    private static final Pattern DOCUMENTS = Pattern.compile(".*\\.md");
    /** Scripts and settings, whose comments begin with a number sign. */
    private static final Pattern SCRIPTS = Pattern.compile(
            "varve|\\.ci/.*|distribution/src/sh/.*|.*\\.(?:conf|options|properties|py|service|sh|ya?ml)");
    private static final Pattern XML_FILES = Pattern.compile(".*\\.xml");
    /** Generated files, and those of other projects. */
    private static final Pattern NOT_OURS = Pattern.compile(
            "(?:.*/)?(?:target|runs|src/test/resources|\\.(?!ci/|github/)[^/]*)/.*");
    private static final Pattern NUMBER_SIGN_COMMENT = Pattern.compile("^\\s*#|\\s#\\s");
    private static final Pattern LINES_OF_XML_COMMENT = Pattern.compile("(?m)^.*<!--(?s:.*?)-->.*$");
    private static final Pattern SAME = Pattern.compile("/\\*\\*\\s*(?:\\*\\s*)?The same\\b");
    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?:;])\\s+");
    private static final Pattern LIST_ITEM = Pattern.compile("\\s*(?:[*-]|\\d+\\.) .*");
    private static final Pattern BLANKS = Pattern.compile("\\s+");

    /** @param wanted matches the file's path, relative to the project */
    private static List<Path> files(Pattern wanted) throws IOException {
        Path home = Experiments.home();
        try (Stream<Path> files = Files.walk(home)) {
            return files.filter(file -> {
                String path = home.relativize(file).toString();
                return wanted.matcher(path).matches() && !NOT_OURS.matcher(path).matches();
            }).filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static List<Path> sources() throws IOException {
        return files(SOURCES);
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
        return line.codePointCount(0, line.length()) > MAX_COLUMNS;
    }

    private static boolean isComment(String line) {
        String text = line.strip();
        return text.startsWith("//") || text.startsWith("*") || text.startsWith("/*");
    }

    @Test
    void comments_haveAtMost120Columns() throws IOException {
        List<Path> sources = sources();
        assertThat(sources).hasSizeGreaterThan(MIN_SOURCES);
        assertThat(problems(sources,
                text -> text.lines().filter(line -> isComment(line) && isTooLong(line)).toList())).isEmpty();
    }

    @Test
    void commentsOfScripts_haveAtMost120Columns() throws IOException {
        List<Path> scripts = files(SCRIPTS);
        assertThat(scripts).hasSizeGreaterThan(MIN_SCRIPTS);
        assertThat(problems(scripts, text -> text.lines()
                .filter(line -> NUMBER_SIGN_COMMENT.matcher(line).find() && isTooLong(line)).toList())).isEmpty();
    }

    @Test
    void commentsOfXml_haveAtMost120Columns() throws IOException {
        List<Path> files = files(XML_FILES);
        assertThat(files).hasSizeGreaterThan(MIN_XML_FILES);
        assertThat(problems(files, text -> LINES_OF_XML_COMMENT.matcher(text).results()
                .flatMap(comment -> comment.group().lines()).filter(SourceStyleTest::isTooLong).toList())).isEmpty();
    }

    @Test
    void sources_haveAtMost600Lines() throws IOException {
        assertThat(problems(sources(), text -> text.lines().count() > MAX_LINES
                ? List.of(text.lines().count() + " lines")
                : List.of())).isEmpty();
    }

    @Test
    void packages_haveAtMost24Files() throws IOException {
        Map<Path, Long> sizes = sources().stream()
                .collect(
                        Collectors.groupingBy(file -> Objects.requireNonNull(file.getParent()), Collectors.counting()));
        sizes.values().removeIf(files -> files <= MAX_FILES);
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
        List<Path> documents = files(DOCUMENTS);
        assertThat(documents).hasSizeGreaterThan(MIN_DOCUMENTS);
        assertThat(problems(documents, text -> prose(text).stream().filter(SourceStyleTest::isTooLong).toList()))
                .isEmpty();
    }

    @Test
    void sentencesOfDocuments_haveAtMost40Words() throws IOException {
        Path home = Experiments.home();
        List<Path> documents = files(DOCUMENTS).stream()
                .filter(file -> file.startsWith(home.resolve("docs")) || file.equals(home.resolve("README.md")))
                .toList();
        assertThat(problems(documents, text -> paragraphs(text).stream().flatMap(SENTENCE_END::splitAsStream)
                .filter(sentence -> BLANKS.split(sentence).length > MAX_WORDS).toList())).isEmpty();
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
