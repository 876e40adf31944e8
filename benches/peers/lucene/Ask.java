import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MultiTermQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Version;

/**
 * Asks an index every question with every command, on this thread, and writes a JSON object a line:
 * first what was measured, then the answer and the times of each question and command.
 */
final class Ask {
  private static final String USAGE = "usage: Ask INDEX QUESTIONS RESULTS ORDER WARM_UP_S PASSES";

  /** Passes of a class and command that are not timed: those before had other queries. */
  private static final int PASSES_BEFORE = 2;

  /** A command of the search benchmark game: how many hits it wants, and up to where it counts. */
  private enum Command {
    TOP_10(10, 10),
    TOP_100(100, 100),
    TOP_1000(1000, 1000),
    TOP_10_COUNT(10, Integer.MAX_VALUE),
    COUNT(0, Integer.MAX_VALUE);

    final int k;

    /** With less than all, blocks without a hit that is good enough are skipped from there on. */
    final int counted;

    Command(int k, int counted) {
      this.k = k;
      this.counted = counted;
    }
  }

  /** A line of {@code questions.tsv}. */
  private record Question(String kind, String text) {}

  /** How many documents match and how many hits came; -1 where the command does not say. */
  private record Answer(long count, long hits) {}

  private final IndexSearcher searcher;
  private final QueryParser parser = new QueryParser(Build.TEXT, Build.words());

  private Ask(DirectoryReader reader) {
    if (reader.leaves().size() != 1 || reader.hasDeletions()) {
      throw new IllegalStateException("the index has not one clean segment");
    }
    searcher = new IndexSearcher(reader);
    searcher.setSimilarity(Build.SIMILARITY);
    // Queries are asked many times over: a cache would answer instead of the index.
    searcher.setQueryCache(null);
  }

  public static void main(String[] typed) throws Exception {
    if (typed.length != 6) {
      throw new IllegalArgumentException(USAGE);
    }
    Path results = Path.of(typed[2]);
    double warmUpS = Double.parseDouble(typed[4]);
    int passes = Integer.parseInt(typed[5]);
    Map<String, List<Question>> classes = questions(Path.of(typed[1]));
    try (MMapDirectory directory = new MMapDirectory(Path.of(typed[0]));
        DirectoryReader reader = DirectoryReader.open(directory);
        PrintWriter to = new PrintWriter(Files.newBufferedWriter(results))) {
      Ask ask = new Ask(reader);
      String loadBefore = load();
      ask.warmUp(classes, warmUpS);
      List<String> lines = new ArrayList<>();
      for (List<Question> questions : classes.values()) {
        for (Command command : Command.values()) {
          ask.time(questions, command, passes, lines);
        }
      }
      to.printf(
          "{\"engine\":\"Lucene\",\"version\":\"%s\",\"order\":%s,\"java\":\"%s\",\"documents\":%d,"
              + "\"warm_up_s\":%s,\"passes\":%d,\"ended\":\"%s\",\"load_before\":\"%s\","
              + "\"load_after\":\"%s\"}%n",
          Version.LATEST,
          quoted(typed[3]),
          Runtime.version(),
          reader.numDocs(),
          warmUpS,
          passes,
          Instant.now().truncatedTo(ChronoUnit.SECONDS),
          loadBefore,
          load());
      lines.forEach(to::println);
    }
  }

  /** By class, in the order of the file. */
  private static Map<String, List<Question>> questions(Path file) throws IOException {
    Map<String, List<Question>> classes = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      String[] parts = line.split("\t");
      if (parts.length != 2) {
        throw new IOException(file + ": a line is no question: " + line);
      }
      List<Question> known = classes.computeIfAbsent(parts[0], kind -> new ArrayList<>());
      known.add(new Question(parts[0], parts[1]));
    }
    return classes;
  }

  /**
   * Asks everything over and over. Code is compiled while it runs, on the core that it runs on, and
   * compiled again when other classes of queries prove the first guesses wrong.
   */
  private void warmUp(Map<String, List<Question>> classes, double seconds) throws Exception {
    long end = System.nanoTime() + (long) (seconds * 1e9);
    do {
      for (List<Question> questions : classes.values()) {
        for (Command command : Command.values()) {
          for (Question question : questions) {
            answer(question, command);
          }
        }
      }
    } while (System.nanoTime() < end);
  }

  /** Times the questions of a class; no question comes twice in a row. */
  private void time(List<Question> questions, Command command, int passes, List<String> lines)
      throws Exception {
    Answer[] answers = new Answer[questions.size()];
    long[][] times = new long[questions.size()][passes];
    for (int pass = -PASSES_BEFORE; pass < passes; pass++) {
      for (int at = 0; at < answers.length; at++) {
        long start = System.nanoTime();
        Answer answer = answer(questions.get(at), command);
        long end = System.nanoTime();
        if (answers[at] != null && !answers[at].equals(answer)) {
          throw new IllegalStateException(questions.get(at) + " has another answer");
        }
        answers[at] = answer;
        if (pass >= 0) {
          times[at][pass] = end - start;
        }
      }
    }
    for (int at = 0; at < answers.length; at++) {
      lines.add(line(questions.get(at), command, answers[at], times[at]));
    }
  }

  /** Parsing is measured, as it is of the other engines. */
  private Answer answer(Question question, Command command) throws IOException, ParseException {
    Query query = query(question);
    if (command == Command.COUNT) {
      return new Answer(searcher.count(query), -1);
    }
    TopDocs found =
        searcher.search(query, new TopScoreDocCollectorManager(command.k, command.counted));
    long count = command.counted == Integer.MAX_VALUE ? found.totalHits.value() : -1;
    return new Answer(count, found.scoreDocs.length);
  }

  /**
   * The query of a text. A fuzzy word of the parser's would be scored by its 50 best words and miss
   * the others; a filter that does not score has no sign of its own.
   */
  private Query query(Question question) throws ParseException {
    String text = question.text();
    return switch (question.kind()) {
      case "fuzzy(1)", "fuzzy(2)" -> {
        int end = text.indexOf('~');
        yield new FuzzyQuery(
            term(text.substring(0, end)),
            Integer.parseInt(text.substring(end + 1)),
            0,
            FuzzyQuery.defaultMaxExpansions,
            FuzzyQuery.defaultTranspositions,
            MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE);
      }
      case "filter+or2" -> {
        int end = text.indexOf("^=0 +(");
        Query filter = new TermQuery(term(text.substring(1, end)));
        Query any = parser.parse(text.substring(end + "^=0 +(".length(), text.length() - 1));
        yield new BooleanQuery.Builder().add(filter, Occur.FILTER).add(any, Occur.MUST).build();
      }
      default -> parser.parse(text);
    };
  }

  private static Term term(String word) {
    return new Term(Build.TEXT, word);
  }

  private static String line(Question question, Command command, Answer answer, long[] times) {
    StringBuilder us = new StringBuilder();
    for (long time : times) {
      us.append(us.isEmpty() ? "" : ",").append(time / 1e3);
    }
    return "{\"class\":"
        + quoted(question.kind())
        + ",\"query\":"
        + quoted(question.text())
        + ",\"command\":\""
        + command
        + "\""
        + (answer.count() < 0 ? "" : ",\"count\":" + answer.count())
        + (answer.hits() < 0 ? "" : ",\"hits\":" + answer.hits())
        + ",\"min_us\":"
        + Arrays.stream(times).min().orElseThrow() / 1e3
        + ",\"us\":["
        + us
        + "]}";
  }

  /** Questions have words, signs and quotes, so nothing else needs escaping. */
  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static String load() throws IOException {
    return Files.readString(Path.of("/proc/loadavg")).split(" ")[0];
  }
}
